import { createHarbour } from './harbour.ts'

const app = createHarbour()
const { url } = await app.listen({ http: { port: Number(process.env['PORT'] ?? 3000) } })
const { origin } = new URL(url!)

console.log(`Pierhead demo server

  listening    ${url}   (health: ${origin}/healthz)
  it has       tools tide, radio, book · resources harbour://berths… · prompt arrival

  try it       curl -s ${url} -H 'content-type: application/json' \\
                 -H 'mcp-protocol-version: 2026-07-28' -H 'mcp-method: tools/call' -H 'mcp-name: tide' \\
                 -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tide","arguments":{"hour":9},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'

  connect      { "mcpServers": { "harbour": { "type": "http", "url": "${url}" } } }
  read next    examples/demo/harbour.ts · README.md · docs/reference

  Ctrl-C stops it.`)
