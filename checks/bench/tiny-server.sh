# An MCP server that starts in a few milliseconds, as one in a compiled language does: it leaves the CPU to the client.
while IFS= read -r line; do
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1.0.0"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"ping"'*) result='{}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
