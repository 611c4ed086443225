import { server } from './fastmcp-server.mjs'
import { TextTransport } from './text-transport.mjs'

/** Connects a client in the same process: text in, text out. */
export function connect(receive) {
  const transport = new TextTransport(receive)
  // Resolves only after the handshake.
  void server.connect(transport)
  return { send: (text) => transport.give(text) }
}
