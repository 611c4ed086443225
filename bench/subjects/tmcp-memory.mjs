import { server } from './tmcp-server.mjs'

/** Connects a client in the same process: text in, text out. */
export function connect(receive) {
  const sessionInfo = {}
  return {
    async send(text) {
      const answer = await server.receive(JSON.parse(text), { sessionInfo })
      if (answer) receive(JSON.stringify(answer))
    },
  }
}
