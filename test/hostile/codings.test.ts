import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { methodOf, serveWell, web, type Request } from './peer.ts'

type Codings = string | readonly string[]

/** Two codings, and one more than the `fetch` of Node accepts, in one header and in several. */
const TWO: Codings = 'gzip, gzip'
const JOINED: Codings = Array.from({ length: 6 }, () => 'gzip').join(', ')
const SINGLE: Codings = Array.from({ length: 6 }, () => 'identity')

const everything = (): boolean => true
const WAYS: readonly (readonly [way: string, isHit: (request: Request) => boolean, outcome: string])[] = [
  ['connect', everything, 'bad_answer'],
  ['call', (request) => methodOf(request) === 'tools/call', 'bad_answer'],
  ['stream', ({ verb }) => verb === 'GET', 'closed'],
  ['group', everything, 'bad_answer'],
  ['gist', everything, 'bad_answer'],
]

/** A server whose replies to some requests have too many codings. They do not end, or they break off. */
async function serveCodings(
  isHit: (request: Request) => boolean,
  codings: Codings,
  breaks: boolean,
): Promise<string> {
  const open = new Set<ServerResponse>()
  let onClosed = (): void => undefined
  const { url } = await web((request, response) => {
    if (request.path === '/after') {
      onClosed = () => void (open.size === 0 && response.end())
      return onClosed()
    }
    const speaks = methodOf(request) === 'initialize' ? '2025-11-25' : '2026-07-28'
    if (!isHit(request)) return serveWell(request, response, speaks)
    open.add(response)
    response.on('close', () => {
      open.delete(response)
      onClosed()
    })
    const type = request.verb === 'GET' ? 'text/event-stream' : 'application/json'
    response.writeHead(200, { 'content-type': type, 'content-encoding': codings as string })
    return response.write('x', () => breaks && response.destroy())
  })
  return url
}

test('a reply with too many content codings does not end the process of a client', async () => {
  const cases: (readonly [string, string])[] = []
  const outcomes: string[] = []
  for (const codings of [TWO, JOINED, SINGLE])
    for (const breaks of [false, true])
      for (const [way, isHit, outcome] of WAYS) {
        cases.push([way, await serveCodings(isHit, codings, breaks)])
        outcomes.push(outcome)
      }
  const program = fileURLToPath(new URL('codings-client.ts', import.meta.url))
  const args = ['--conditions=pierhead-source', '--import', 'tsx', program, JSON.stringify(cases)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let problem = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (problem += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  expect([code, problem.slice(0, 500)]).toEqual([0, ''])
  expect(JSON.parse(out)).toEqual(outcomes)
})
