import type { Limits } from '../../src/protocol/limits.ts'
import { toLimits } from '../../src/base/limits.ts'
import { code, page, table } from './markdown.ts'

interface TransportRow {
  /** The call that opens the server. */
  readonly listen: string
  /** The call that opens the client. */
  readonly connect: string
  /** What to use it for. */
  readonly use: string
  readonly framing: string
  /** How it fares between two networks. */
  readonly firewalls: string
  /** Whether many clients share a listener, and how requests of one client share a connection. */
  readonly multiplexing: string
  /** What happens to running requests when the connection breaks. */
  readonly lost: string
  readonly limit: keyof Limits
  /** The names of this transport in the scenarios. */
  readonly scenarios: readonly string[]
}

/** Every transport, one row each. */
// oxfmt-ignore
export const TRANSPORTS: Readonly<Record<string, TransportRow>> = {
  'stdio':           { listen: 'listen()', connect: "connect({ command: 'node', args: ['server.js'] })", use: 'A program on the same machine, started by the client', framing: 'One message per line', firewalls: 'Not involved: pipes', multiplexing: 'One client; requests share the pipe', lost: 'Cancelled; the client starts the program again', limit: 'stdioBytes', scenarios: ['stdio'] },
  'Streamable HTTP': { listen: 'listen({ http: { port } })', connect: "connect('https://…/mcp')", use: 'Servers for many users, behind proxies and load balancers, with or without sessions', framing: 'One HTTP request per message; JSON or an event stream back', firewalls: 'Passes: ordinary HTTP', multiplexing: 'Any number of clients; requests are independent', lost: 'Continue up to 2025-11-25, where the client resumes the stream; cancelled at 2026-07-28', limit: 'httpBytes', scenarios: ['http'] },
  'HTTP+SSE':        { listen: 'listen({ http: { sse: true } })', connect: "connect('https://…/sse')", use: 'Clients and servers that know only 2024-11-05', framing: 'One POST per message in, one event per message out', firewalls: 'Passes if long responses do', multiplexing: 'Any number of clients; answers share one stream', lost: 'Cancelled', limit: 'sseBytes', scenarios: ['sse'] },
  'WebSocket':       { listen: 'listen({ ws: { port } })', connect: "connect('wss://…/mcp')", use: 'Live streams, push notifications and browsers', framing: 'One text frame per message', firewalls: 'Passes if upgrades do', multiplexing: 'Any number of clients; requests share the connection', lost: 'Continue; the client resumes the session', limit: 'wsBytes', scenarios: ['ws'] },
  'TCP':             { listen: 'listen({ tcp: { port } })', connect: "connect('tcp://…:4000')", use: 'Services in one network, at the highest rates', framing: 'One message per line, or a length before each message', firewalls: 'Needs an open port', multiplexing: 'Any number of clients, each with one connection or a pool', lost: 'Cancelled; the client connects again', limit: 'tcpBytes', scenarios: ['tcp'] },
  'TLS':             { listen: 'listen({ tcp: { port, tls } })', connect: "connect('tls://…:4000')", use: 'TCP between networks, with callers identified by certificate', framing: 'As over TCP', firewalls: 'Needs an open port', multiplexing: 'As over TCP', lost: 'As over TCP', limit: 'tcpBytes', scenarios: ['tls'] },
  'Unix socket':     { listen: "listen({ unix: '/run/server.sock' })", connect: "connect('unix:/run/server.sock')", use: 'Services on one machine, protected by file permissions', framing: 'As over TCP', firewalls: 'Not involved: a file', multiplexing: 'As over TCP', lost: 'As over TCP', limit: 'tcpBytes', scenarios: ['unix'] },
  'memory':          { listen: 'the server itself', connect: 'connect(app)', use: 'Tests, and a server and its client in one program', framing: 'One string per message', firewalls: 'Not involved', multiplexing: 'Any number of clients', lost: 'Cannot happen', limit: 'memoryBytes', scenarios: ['memory'] },
}

/** The page about transports. */
export function transportsPage(): string {
  const limits = toLimits()
  const rows = Object.entries(TRANSPORTS)
  return page(
    'Transports',
    'A server can listen on several at once. Every scenario in `test/scenarios` runs over each transport, at every revision that the transport supports; HTTP+SSE supports those with a handshake.',
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
    '## On the network',
    table(
      ['Transport', 'Framing', 'Firewalls', 'Multiplexing', 'Running requests when the connection breaks'],
      rows.map(([name, row]) => [name, row.framing, row.firewalls, row.multiplexing, row.lost]),
    ),
  )
}
