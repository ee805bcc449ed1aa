#!/bin/sh
# `npx` in the sandbox of a page: runs packages of this repository, and knows no others.
while [ "${1#-}" != "$1" ]; do shift; done
package=$1
shift
case $package in
@modelcontextprotocol/server-everything | @modelcontextprotocol/server-filesystem | @modelcontextprotocol/server-memory)
  exec node "@repository@/node_modules/$package/dist/index.js" "$@"
  ;;
esac
echo "npm error code E404" >&2
echo "npm error 404 Not Found: $package@latest is not in this registry." >&2
exit 1
