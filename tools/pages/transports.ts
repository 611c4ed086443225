import type { Limits } from '../../src/protocol/limits.ts'
import { toLimits } from '../../src/base/limits.ts'
import { code, page, table } from './markdown.ts'

interface TransportRow {
  /** What `listen` takes. */
  readonly listen: string
  /** What `connect` takes. */
  readonly connect: string
  /** What it is best at. */
  readonly use: string
  readonly framing: string
  /** What stands in its way between two networks. */
  readonly firewalls: string
  /** Whether many clients share a listener, and how requests of one client share a connection. */
  readonly multiplexing: string
  /** What becomes of work in progress when the connection is lost. */
  readonly lost: string
  readonly limit: keyof Limits
  /** The names under which the scenarios run over it. */
  readonly scenarios: readonly string[]
}

/** Every transport, one row each. */
// oxfmt-ignore
export const TRANSPORTS: Readonly<Record<string, TransportRow>> = {
  'stdio':           { listen: 'listen()', connect: "connect({ command: 'node', args: ['server.js'] })", use: 'A program on the same machine that the client starts', framing: 'One message a line', firewalls: 'None: pipes', multiplexing: 'One client; requests share the pipe', lost: 'Cancelled; the client starts the program again', limit: 'stdioBytes', scenarios: ['stdio'] },
  'Streamable HTTP': { listen: 'listen({ http: { port } })', connect: "connect('https://…/mcp')", use: 'Servers for many users, behind proxies and balancers, with or without sessions', framing: 'One request a message; JSON or an event stream back', firewalls: 'Passes: ordinary HTTP', multiplexing: 'Any number of clients; requests are independent', lost: 'Goes on up to 2025-11-25, the stream is resumed where it was; cancelled at 2026-07-28', limit: 'httpBytes', scenarios: ['http'] },
  'HTTP+SSE':        { listen: 'listen({ http: { sse: true } })', connect: "connect('https://…/sse')", use: 'Clients and servers that know only 2024-11-05', framing: 'One POST a message in; one event a message out', firewalls: 'Passes, where long replies may', multiplexing: 'Any number of clients; answers share one stream', lost: 'Cancelled', limit: 'sseBytes', scenarios: ['sse'] },
  'WebSocket':       { listen: 'listen({ ws: { port } })', connect: "connect('wss://…/mcp')", use: 'Live streams and pushes, and browsers', framing: 'One text frame a message', firewalls: 'Passes, where upgrades may', multiplexing: 'Any number of clients; requests share the connection', lost: 'Goes on; the session is resumed where it was', limit: 'wsBytes', scenarios: ['ws'] },
  'TCP':             { listen: 'listen({ tcp: { port } })', connect: "connect('tcp://…:4000')", use: 'Services in one network, at the highest rates', framing: 'One message a line, or each after its length', firewalls: 'Needs an open port', multiplexing: 'Any number of clients, each with one connection or a pool', lost: 'Cancelled; the client connects again', limit: 'tcpBytes', scenarios: ['tcp'] },
  'TLS':             { listen: 'listen({ tcp: { port, tls } })', connect: "connect('tls://…:4000')", use: 'TCP between networks, and callers known by their certificate', framing: 'As over TCP', firewalls: 'Needs an open port', multiplexing: 'As over TCP', lost: 'As over TCP', limit: 'tcpBytes', scenarios: ['tls'] },
  'Unix socket':     { listen: "listen({ unix: '/run/server.sock' })", connect: "connect('unix:/run/server.sock')", use: 'Services on one machine, told apart by file permissions', framing: 'As over TCP', firewalls: 'None: a file', multiplexing: 'As over TCP', lost: 'As over TCP', limit: 'tcpBytes', scenarios: ['unix'] },
  'memory':          { listen: 'the server itself', connect: 'connect(app)', use: 'Tests, and a server and its client in one program', framing: 'One text a message', firewalls: 'None', multiplexing: 'Any number of clients', lost: 'Cannot be', limit: 'memoryBytes', scenarios: ['memory'] },
}

/** The page about transports. */
export function transportsPage(): string {
  const limits = toLimits()
  const rows = Object.entries(TRANSPORTS)
  return page(
    'Transports',
    'One server may listen on several at once. Every scenario of `test/scenarios` runs over each of them at every revision that it carries; HTTP+SSE carries those with a handshake.',
    table(
      ['Transport', 'Server', 'Client', 'Use it for', 'Largest message'],
      rows.map(([name, row]) => [
        name,
        row.listen.startsWith('listen') ? code(row.listen) : row.listen,
        code(row.connect),
        row.use,
        `${limits[row.limit].toLocaleString('en')} bytes (${code(row.limit)})`,
      ]),
    ),
    '## On the way',
    table(
      ['Transport', 'Framing', 'Firewalls', 'Multiplexing', 'Work in progress when the connection is lost'],
      rows.map(([name, row]) => [name, row.framing, row.firewalls, row.multiplexing, row.lost]),
    ),
  )
}
