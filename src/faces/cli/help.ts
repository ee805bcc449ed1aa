// What `--help` says beyond the options.

export const OVERVIEW_HELP = `
Examples:
  plugboard --config plugboard.json
  plugboard tools time
  plugboard call demo/convert_units value=98.6 from=°F to=°C

Exit codes:
  0    ok
  1    the tool reported an error, or the model did not get to the end
  2    usage or configuration, an unknown tool or an untrusted file included
  3    the server or the model is unavailable or did not answer in time
  4    refused by the guard
  70   a fault of Plugboard's own
  130  interrupted; 129 and 143 by SIGHUP and SIGTERM`;

export const TOOLS_HELP = `
Tools that are known from an earlier run are listed from the cache, without
starting their server.`;

export const CALL_HELP = `
Ways to give arguments:
  '{"text": "hi", "top": 3}'     one JSON object
  text=hi top=3                  typed by the tool's schema
  tag=a tag=b                    a repeated key makes a list
  place.city=Oslo                a part of an object
  filter:='{"a": [1, 2]}'        JSON as it stands, whatever the schema says
  text=@notes.txt                a value from a file; text=@- from stdin
  @arguments.json                a JSON object from a file; - from stdin

Examples:
  plugboard call demo/convert_units value=98.6 from=°F to=°C
  plugboard call mcp__demo__current_time zone=Tokyo --json`;

export const ACP_HELP = `
An editor starts it and talks to it on stdin and stdout. In Zed's settings:
  "agent_servers": {
    "Plugboard": { "type": "custom", "command": "plugboard", "args": ["acp"] }
  }
docs/editors.md has the settings of other editors. What goes wrong is on stderr,
and in the answer to the editor's first request where the agent cannot start.

The MCP servers that the editor brings are used beside those of the
configuration. With "model" in the configuration it answers questions, else
commands alone: /tools, /call, /mcp, /resources, /read.

Example:
  acpx --agent "plugboard acp" exec "/tools"`;
