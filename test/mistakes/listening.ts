import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Mistake } from './mistake.ts'

function listened(wrote: string, options: object, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: ({ server }) => server().listen(options as never), problem, fix }
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
})

async function post(url: string, headers: object = {}, body: string = INITIALIZE): Promise<string> {
  const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return (await fetch(url, { method: 'POST', headers: { ...own, ...headers }, body })).text()
}

/** Mistakes with the transports that a server opens, and with requests sent to it by hand. */
export const listening: readonly Mistake[] = [
  listened(
    'app.listen({ port: 3000 })',
    { port: 3000 },
    '"port" is an option of http',
    'write { http: { port } }',
  ),
  {
    wrote: 'app.listen(3000), as in Express',
    make: ({ server }) => server().listen(3000 as never),
    problem: 'listen: expected an object with options',
    fix: 'write { http: { port: 3000 } }',
  },
  listened(
    'app.listen({ http: 3000 })',
    { http: 3000 },
    'http must be true or false, or an object',
    'such as { port: 3000 }',
  ),
  listened(
    "app.listen({ transport: 'http' })",
    { transport: 'http' },
    'there is no option "transport"',
    /stdio, http|\{ http: \{\} \}/,
  ),
  listened(
    "app.listen({ http: { port: 'abc' } })",
    { http: { port: 'abc' } },
    'port must be a whole number',
    'from 0 to 65535',
  ),
  listened(
    'app.listen({ http: { port: 70000 } })',
    { http: { port: 70_000 } },
    'port must be a whole number from 0 to 65535',
    'not 70000',
  ),
  listened(
    "app.listen({ http: { path: 'mcp' } })",
    { http: { port: 0, path: 'mcp' } },
    'listen http path',
    'it must begin with /',
  ),
  listened(
    "app.listen({ http: { host: '0.0.0.0' } })",
    { http: { port: 0, host: '0.0.0.0' } },
    '"0.0.0.0" can be reached by other machines',
    "hosts: ['mcp.example.com']",
  ),
  listened(
    "app.listen({ http: { hosts: 'example.com' } })",
    { http: { port: 0, hosts: 'example.com' } },
    'hosts must be a list',
    "write hosts: ['example.com']",
  ),
  listened('app.listen({ https: {} })', { https: {} }, 'there is no option "https"', 'did you mean "http"?'),
  listened('app.listen({ tcp: true })', { tcp: true }, 'tcp must be', '{ port: 4000 }'),
  listened(
    "app.listen({ tcp: { port: 0, host: '0.0.0.0' } })",
    { tcp: { port: 0, host: '0.0.0.0' } },
    'can be reached by other machines',
    'tls: { key, cert, ca }',
  ),
  listened('app.listen({ unix: true })', { unix: true }, 'unix must be', /a string|\.sock/),
  listened("app.listen({ stdio: 'yes' })", { stdio: 'yes' }, 'stdio must be', 'true or false'),
  listened(
    'app.listen({ stdio: false })',
    { stdio: false, http: false },
    'name a transport',
    '{ stdio: true } or { http: {} }',
  ),
  listened(
    "app.listen({ http: { tls: { cert: 'cert.pem', key: 'key.pem' } } })",
    { http: { port: 0, tls: { cert: 'cert.pem', key: 'key.pem' } } },
    /tls/,
    /readFile|PEM/,
  ),
  {
    wrote: 'a port that another program uses',
    make: async ({ server, after }) => {
      const other = createHttp()
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      after(() => other.close())
      return server().listen({ http: { port: (other.address() as AddressInfo).port } })
    },
    problem: /127\.0\.0\.1:\d+: .*(in use|uses)/,
    fix: 'choose another, or 0 for any',
  },
  {
    wrote: "a plug-in's endpoints after listen()",
    make: async ({ server, url }) => {
      const app = server()
      await url(app)
      app.use({ endpoints: { '/metrics': () => new Response('x') } })
    },
    problem: 'use: ',
    fix: 'add endpoints before listen()',
  },
  {
    wrote: 'POST / instead of /mcp',
    make: async ({ server, url }) => post((await url(server())).replace('/mcp', '/')),
    problem: 'nothing is served at /',
    fix: 'MCP is served at /mcp',
  },
  {
    wrote: 'GET /mcp in a browser',
    make: async ({ server, url }) =>
      (await fetch(await url(server()), { headers: { accept: 'text/html' } })).text(),
    problem: /accepts neither application\/json nor text\/event-stream/,
    fix: /Accept: application\/json, text\/event-stream|MCP client/,
  },
  {
    wrote: 'PUT /mcp',
    make: async ({ server, url }) => (await fetch(await url(server()), { method: 'PUT', body: '{}' })).text(),
    problem: 'the HTTP method PUT is not allowed here',
    fix: 'send MCP messages with POST',
  },
  {
    wrote: 'POST without Content-Type',
    make: async ({ server, url }) => post(await url(server()), { 'content-type': 'text/plain' }),
    problem: 'the content type is not application/json',
    fix: 'send Content-Type: application/json',
  },
  {
    wrote: 'POST of something other than JSON',
    make: async ({ server, url }) => post(await url(server()), {}, 'hello'),
    problem: 'the message is not valid JSON',
    fix: 'valid JSON',
  },
  {
    wrote: 'POST of JSON that is not JSON-RPC',
    make: async ({ server, url }) => post(await url(server()), {}, '{"tool":"a"}'),
    problem: 'not a JSON-RPC 2.0 message',
    fix: /jsonrpc/,
  },
  {
    wrote: 'tools/list without a session',
    make: async ({ server, url }) =>
      post(await url(server()), {}, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
    problem: 'the Mcp-Session-Id header is missing',
    fix: 'send initialize first',
  },
  {
    wrote: 'a session id of an earlier run',
    make: async ({ server, url }) =>
      post(await url(server()), { 'mcp-session-id': 'a' }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'),
    problem: 'the session does not exist or has ended',
    fix: 'send initialize again',
  },
  {
    wrote: 'a name in front of the server that it does not know',
    make: async ({ server, url }) => {
      const at = await url(server())
      const { request } = await import('node:http')
      const asked = (): Promise<unknown> =>
        new Promise((resolve) =>
          request(at, { method: 'POST', headers: { host: 'mcp.example.com' } }, resolve).end(INITIALIZE),
        )
      await asked()
      await asked()
    },
    problem: 'the Host "mcp.example.com" is not served here',
    fix: "hosts: ['mcp.example.com']",
  },
]
