import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpExchange } from './http-exchange.ts'
import type { Behaviour } from './scenario.ts'
import { closeServer, readBody, seenRequest } from './serve-http.ts'
import type { Visit } from './visit.ts'

/** The most requests that are noted. */
const MOST_FETCHED = 100

/** Opens a web site on a free port of this machine, which notes who asks for its pages. Returns what closes it. */
export async function openSite(visit: Visit, behaviour: Behaviour): Promise<() => Promise<void>> {
  let count = 0
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    const http = seenRequest(request)
    const stream = `site ${++count}`
    readBody(request, visit)
      .then((text) => {
        const at = visit.fetch(http, text, stream)
        if (at === undefined || visit.fetched.length >= MOST_FETCHED) return response.destroy()
        visit.fetched.push({ path: http.path, http, at })
        const seen = { at, ms: visit.ms, text, value: undefined, messages: [], stream, http }
        const exchange = new HttpExchange(seen, visit, response)
        if (behaviour.site?.(exchange) !== true) exchange.answer(200, '{"type":"object"}')
        return undefined
      })
      // Whatever a client sends, the validator goes on.
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  visit.site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return () => closeServer(server)
}
