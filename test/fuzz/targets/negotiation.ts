import { McpError } from '../../../src/errors/error.ts'
import { createGuard } from '../../../src/transport/http/server/guard.ts'
import { checkContent, readAccept, readVersion } from '../../../src/transport/http/server/negotiate.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText } from '../values.ts'

type Headers = Readonly<Record<string, string>>

// oxfmt-ignore
const GOOD: Readonly<Record<string, readonly string[]>> = {
  accept: ['application/json, text/event-stream', '*/*', 'application/json;q=0.5', 'text/event-stream; q=0', 'text/*', 'application/*;q=0.000'],
  'content-type': ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'application/json; charset=latin1', 'text/plain', 'application/jsonx'],
  'content-encoding': ['identity', 'gzip', ' Identity '],
  'mcp-protocol-version': ['2025-11-25', '2026-07-28', '2024-11-05'],
  host: ['localhost', '127.0.0.1:80', '[::1]:3000', 'LOCALHOST:1', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost@evil.example', 'a.b:99999'],
  origin: ['http://localhost', 'https://127.0.0.1:8080', 'http://[::1]', 'null', 'http://evil.example', 'http://localhost.evil.example', 'http://localhost@evil.example', 'file://localhost', 'http://evil.example#localhost'],
}
const TOKENS = [
  ',',
  ';',
  '/',
  '*',
  'q=0',
  'q=',
  '=',
  '"',
  ' ',
  '\t',
  ':',
  '@',
  '#',
  '?',
  '[',
  ']',
  '.',
  '\\',
  '%',
  'charset=',
  'localhost',
  '127.0.0.1',
  'http://',
  'evil.example',
]
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
const guard = createGuard({ hosts: ['loopback'], cors: [] })
const mounted = createGuard({ hosts: undefined, cors: [] })
const anyHost = createGuard({ hosts: ['*'], cors: [] })

/** Headers are judged without ever failing, and no host or origin is let in that a browser would take for another one. */
export const negotiationTarget: Target = target<Headers>({
  name: 'negotiation',
  share: 5,
  make: (random) =>
    Object.fromEntries(
      Object.entries(GOOD).flatMap(([name, values]) =>
        random.oneIn(4) ? [] : [[name, valueOf(values, random)]],
      ),
    ),
  check(headers) {
    const head = { method: 'POST', header: (name: string) => headers[name] }
    const { accept = '', host, origin } = headers
    const accepts = readAccept(head)
    if (accept === '') claim(accepts.json && accepts.events, 'no Accept is not taken for any')
    const lower = accept.toLowerCase()
    claim(
      !accepts.json || accept === '' || /application\/(?:json|\*)|\*\/\*/.test(lower),
      'JSON is sent to whoever does not take it',
    )
    claim(
      !accepts.events || accept === '' || /text\/(?:event-stream|\*)|\*\/\*/.test(lower),
      'events are sent to whoever does not take them',
    )
    taken(() => readVersion(head))
    if (taken(() => checkContent(head)))
      claim(
        /^\s*application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? ''),
        'a body of another type is read',
      )
    if (taken(() => guard.check(head))) {
      claim(LOOPBACK.includes(hostOf(`http://${host}`)), `the host ${host} is let in`)
      claim(origin === undefined || LOOPBACK.includes(hostOf(origin)), `the origin ${origin} is let in`)
    }
    taken(() => guard.preflight(head))
    if (taken(() => mounted.check(head)) && origin !== undefined)
      claim(LOOPBACK.includes(hostOf(origin)), `a page of ${origin} may call a mount`)
    if (taken(() => anyHost.check(head)) && origin !== undefined)
      claim(hostOf(origin) === hostOf(`http://${host}`), `a page of ${origin} may call ${host}`)
  },
})

function valueOf(values: readonly string[], random: Random): string {
  const value = random.oneIn(10) ? anyText(random) : random.pick(values)
  return random.oneIn(3) ? value : mutateText(value, random, TOKENS)
}

function hostOf(url: string): string {
  const plain = url.replace(/:\d{1,5}$/, '')
  return URL.canParse(plain) ? new URL(plain).hostname : 'none'
}

function taken(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (thrown) {
    if (thrown instanceof McpError) return false
    throw thrown
  }
}
