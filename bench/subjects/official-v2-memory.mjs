import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createOfficialV2 } from './official-v2-server.mjs'
import { TextTransport } from './text-transport.mjs'

/** Connects a client in the same process: text in, text out, at the revision of the client. */
export async function connect(receive) {
  const transport = new TextTransport(receive)
  serveStdio(createOfficialV2, { transport })
  return { send: (text) => transport.give(text) }
}
