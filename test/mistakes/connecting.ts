import { connect, connectAll } from '../../src/client.ts'
import { connectGist } from '../../src/gist.ts'
import { serve, vacantUrl } from '../http-client/peer.ts'
import type { Mistake } from './mistake.ts'

function target(wrote: string, to: unknown, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: () => connect(to as never), problem, fix }
}

function option(wrote: string, options: object, problem: string | RegExp, fix: string | RegExp): Mistake {
  return { wrote, make: ({ server, client }) => client(server(), options as never), problem, fix }
}

/** Mistakes in the target and the options of a client. */
export const connecting: readonly Mistake[] = [
  option(
    "connect(url, { token: 'secret' })",
    { token: 'secret' },
    'there is no option "token"',
    'write auth: token(() => …)',
  ),
  {
    wrote: 'connect(url) with a name that the server does not know',
    async make({ server, url }) {
      const { port } = new URL(await url(server(), { hosts: ['films.example'] }))
      return connect(`http://127.0.0.1:${port}/mcp`)
    },
    problem: 'the Host "127.0.0.1',
    fix: 'option hosts',
  },
  target('connect() without a target', undefined, 'connect', 'pass a URL, { command, args } or a server'),
  target(
    "connect('localhost:3000/mcp')",
    'localhost:3000/mcp',
    '"localhost:3000/mcp" is not a URL',
    'write http://localhost:3000/mcp',
  ),
  target("connect('example.com/mcp')", 'example.com/mcp', 'is not a URL', 'write https://example.com/mcp'),
  target(
    "connect('node server.js')",
    'node server.js',
    'is not an http, https, ws, wss, tcp, tls or unix URL',
    'to start a program, write { command, args }',
  ),
  target(
    "connect('ftp://example.com')",
    'ftp://example.com',
    '"ftp://example.com" is not an http',
    '{ command, args }',
  ),
  target('connect({})', {}, 'the target has neither a command nor a url', 'pass a URL'),
  target(
    'connect({ mcpServers })',
    { mcpServers: {} },
    'the target is an entire mcp.json file',
    'pass one entry, or use connectAll',
  ),
  {
    wrote: 'connect(createServer(…).listen(…)), a promise',
    make: ({ server }) => connect(Promise.resolve(server()) as never),
    problem: 'the target is a promise',
    fix: 'await it first',
  },
  {
    wrote: "connect({ command: 'node server.js' }), arguments in the command",
    make: () => connect({ command: 'node server.js' }),
    problem: /the command "node …"/,
    fix: 'put arguments in args, not in the command',
  },
  {
    wrote: "connect({ command: 'no-such-program' })",
    make: () => connect({ command: 'no-such-program' }),
    problem: 'no-such-program',
    fix: /PATH|installed|command is right/,
  },
  {
    wrote: "connect({ command: 'node', args: 'server.js' })",
    make: () => connect({ command: process.execPath, args: 'server.js' as never }),
    problem: 'args: it must be a list',
    fix: "write args: ['server.js']",
  },
  {
    wrote: 'a program that fails at its start',
    make: () => connect({ command: process.execPath, args: ['-e', 'throw new Error("no database")'] }),
    problem: 'no database',
    fix: /exited|Check that/,
  },
  {
    wrote: 'a program in TypeScript, where Node does not run it',
    make: () =>
      connect({
        command: process.execPath,
        args: ['-e', `throw Object.assign(new TypeError('x'), { code: 'ERR_UNKNOWN_FILE_EXTENSION' })`],
      }),
    problem: 'This Node does not run TypeScript',
    fix: "{ command: 'node', args: ['--import', 'pierhead/typescript', 'server.ts'] }",
  },
  {
    wrote: 'a program that is not a server and prints nothing',
    make: () =>
      connect(
        { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] },
        { timeout: '2500ms' },
      ),
    problem: 'the program is running, but has written nothing to stdout',
    fix: 'is it an MCP server on stdio?',
  },
  {
    wrote: 'a program that prints to stdout and never answers',
    make: () =>
      connect(
        { command: process.execPath, args: ['-e', "console.log('ready'); setInterval(() => {}, 1000)"] },
        { timeout: '2500ms' },
      ),
    problem: /not answered within 2500 ms.*ready/s,
    fix: 'console.error',
  },
  {
    wrote: 'a URL where nothing listens',
    make: async () => connect(await vacantUrl()),
    problem: 'nothing listens there',
    fix: 'Check that the server is running',
  },
  {
    wrote: 'connect(url) without /mcp, to a Pierhead server',
    make: async ({ server, url }) => connect((await url(server())).replace('/mcp', '/')),
    problem: /nothing is served at (http:\/\/127\.0\.0\.1:\d+)?\//,
    fix: /(MCP is served at|try) (http:\/\/127\.0\.0\.1:\d+)?\/mcp/,
  },
  {
    wrote: 'connect(url) without /mcp, to another server',
    make: async () =>
      connect((await serve((_, response) => void response.writeHead(404).end())).url.replace(/[^/]*$/, '')),
    problem: /nothing is served at http:\/\/127\.0\.0\.1:\d+\//,
    fix: /try http:\/\/127\.0\.0\.1:\d+\/mcp/,
  },
  {
    wrote: 'connect(url + "/sse"), where nothing is',
    make: async () =>
      connect(
        (await serve((_, response) => void response.writeHead(404).end())).url.replace(/[^/]*$/, 'sse'),
      ),
    problem: /nothing is served at http:\/\/127\.0\.0\.1:\d+\/sse/,
    fix: /try http:\/\/127\.0\.0\.1:\d+\/mcp/,
  },
  {
    wrote: 'connect to a web page',
    make: async () =>
      connect(
        (
          await serve(
            (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
          )
        ).url,
      ),
    problem: 'its type is text/html, not JSON or an event stream',
    fix: 'Check the address',
  },
  {
    wrote: 'connect without credentials',
    make: async () => connect((await serve((_, response) => void response.writeHead(401).end())).url),
    problem: 'HTTP status 401',
    fix: "connect(url, { auth: browser() }) with import { browser } from 'pierhead/auth/client'",
  },
  {
    wrote: 'connect to a server that does not know this Host',
    make: async ({ server, url }) => connect(await url(server(), { hosts: ['mcp.example.com'] })),
    problem: /Host "127\.0\.0\.1:\d+" is not served here/,
    fix: "hosts: ['127.0.0.1']",
  },
  {
    wrote: "connect(app, { revision: '2026-07-28' }) to a server without it",
    make: ({ server, client }) => client(server({ revisions: ['2025-11-25'] }), { revision: '2026-07-28' }),
    problem: 'the server does not offer 2026-07-28',
    fix: 'leave out the option revision',
  },
  {
    wrote: "connect(app, { revision: '2024-11-05' }) to a server without it",
    make: ({ server, client }) =>
      client(server({ revisions: ['2025-06-18', '2025-11-25'] }), { revision: '2024-11-05' }),
    problem: 'the server does not offer 2024-11-05',
    fix: 'leave out the option revision',
  },
  {
    wrote: "connect(url, { revision: '2025-11-25' }) to a server of 2026-07-28",
    make: async ({ server, url }) =>
      connect(await url(server({ revisions: ['2026-07-28'] })), { revision: '2025-11-25' }),
    problem: 'the server does not offer 2025-11-25',
    fix: 'leave out the option revision',
  },
  option("{ revision: 'latest' }", { revision: 'latest' }, 'revision must be', "'2026-07-28'"),
  option("{ timeout: '20 seconds' }", { timeout: '20 seconds' }, 'not "20 seconds"', "'20s'"),
  option('{ timeuot }', { timeuot: 5 }, 'there is no option "timeuot"', 'did you mean "timeout"?'),
  option(
    "{ headers: 'Bearer x' }",
    { headers: 'Bearer x' },
    'headers must be',
    'an object: header values by name',
  ),
  option('{ answers: { elict } }', { answers: { elict: () => ({}) } }, '"elict"', 'did you mean "elicit"?'),
  option(
    "{ answers: { elicit: { action: 'accept' } } }",
    { answers: { elicit: { action: 'accept' } } },
    'elicit must be',
    'a function',
  ),
  option(
    '{ client: { version } } without a name',
    { client: { version: '1' } },
    'client must be',
    '{ name, version }',
  ),
  option("{ client: 'me' }", { client: 'me' }, 'client must be', '{ name, version }'),
  option('{ recovery: { trie: 1 } }', { recovery: { trie: 1 } }, '"trie"', 'did you mean "tries"?'),
  {
    wrote: "connect('http://…', { tls })",
    make: async () => connect(await vacantUrl(), { tls: { ca: 'x' } }),
    problem: 'connect tls: it applies only to https://, tls://, wss://',
    fix: 'remove it',
  },
  {
    wrote: 'connectAll([app]), a list',
    make: ({ server }) => connectAll([server()] as never),
    problem: 'connectAll',
    fix: 'servers by name',
  },
  {
    wrote: "connectAll({ a: app }, { separator: '.' })",
    make: ({ server }) => connectAll({ a: server() }, { separator: '.' }),
    problem: 'separator',
    fix: /_ and -|`_`|"__"|_/,
  },
  {
    wrote: 'connectGist() to an MCP URL that has no gist',
    make: async ({ server, url }) => connectGist(await url(server())).then((gist) => gist.call('a')),
    problem: 'this is not a gist endpoint',
    fix: /gist: true/,
  },
]
