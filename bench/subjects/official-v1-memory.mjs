import { createOfficialV1 } from './official-v1-server.mjs'
import { TextTransport } from './text-transport.mjs'

/** Connects a client in the same process: text in, text out. */
export async function connect(receive) {
  const transport = new TextTransport(receive)
  await createOfficialV1().connect(transport)
  return { send: (text) => transport.give(text) }
}
