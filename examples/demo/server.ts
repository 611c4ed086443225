import { parseArgs } from 'node:util'
import { devAuth, type DevAuth } from 'pierhead/auth/dev'
import { createHarbour } from './harbour.ts'

const { values } = parseArgs({ options: { auth: { type: 'boolean', default: false } } })
const dev = values.auth ? await devAuth({ scopes: ['harbour'] }) : undefined
const app = createHarbour(dev)
const { url = '' } = await app.listen({ http: { port: Number(process.env['PORT'] ?? 3000) } })
const { origin } = new URL(url)

console.log(`Pierhead demo server

  listening    ${url}   (health: ${origin}/healthz)
  it has       tools tide, radio, book · resources harbour://berths… · prompt arrival
${dev === undefined ? '' : await describe(dev)}
  try it       curl -s ${url} -H 'content-type: application/json' ${dev === undefined ? '' : '-H "authorization: Bearer $TOKEN" '}\\
                 -H 'mcp-protocol-version: 2026-07-28' -H 'mcp-method: tools/call' -H 'mcp-name: tide' \\
                 -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tide","arguments":{"hour":9},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'

  connect      { "mcpServers": { "harbour": { "type": "http", "url": "${url}" } } }
  read next    examples/demo/harbour.ts · README.md · docs/reference

  Ctrl-C stops it.`)

async function describe({ issuer, token }: DevAuth): Promise<string> {
  return `
  login        clients open a page of ${issuer}; log in as anyone, without a password
               everyone needs the scope harbour; the tool book needs harbour:book as well
  a token      export TOKEN=${await token({ sub: 'alice', scopes: ['harbour'] })}
`
}
