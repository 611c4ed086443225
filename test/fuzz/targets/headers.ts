import { META } from '../../../src/protocol/meta.ts'
import { encodeHeaderValue } from '../../../src/wire/header-value.ts'
import { checkValue, decodeHeaderValue } from '../../../src/wire/headers.ts'
import { checkParamHeaders, paramHeadersOf, toParamHeaders } from '../../../src/wire/param-headers.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText, plainNumber, plainValue } from '../values.ts'

interface Input {
  readonly text: string
  readonly other: string
  readonly schema: unknown
  readonly args: Readonly<Record<string, unknown>>
  readonly spoilt: string
}

/** Any text travels in a header and comes back; nothing that is sent could end the header; a header that says something else is noticed. */
export const headersTarget: Target = target<Input>({
  name: 'headers',
  share: 7,
  make(random) {
    const text = anyText(random, 30)
    const args = argsOf(random)
    return {
      text,
      other: random.oneIn(2) ? mutateText(encodeHeaderValue(text), random) : anyText(random, 30),
      schema: random.oneIn(4) ? plainValue(random, 4) : schemaOf(args, random),
      args,
      spoilt: anyText(random),
    }
  },
  check({ text, other, schema, args, spoilt }) {
    checkText(text, other)
    const rules = paramHeadersOf(schema)
    if ('problem' in rules) return
    const headers = new Map(toParamHeaders(rules, args).map(([name, value]) => [name.toLowerCase(), value]))
    for (const [name, value] of headers)
      claim(isSafe(name) && isSafe(value), `a header could be ended: ${value}`)
    const problem = checkParamHeaders(rules, args, (name) => headers.get(name))
    claim(problem === undefined, `a header that was just made is refused: ${problem?.reason}`)
    for (const [name, value] of headers) {
      const decoded = decodeHeaderValue(spoilt)
      const same = decoded === decodeHeaderValue(value) || Number(decoded) === Number(value)
      const seen = checkParamHeaders(rules, args, (asked) => (asked === name ? spoilt : headers.get(asked)))
      claim(same || seen !== undefined, 'another value is taken for the same')
    }
  },
})

function checkText(text: string, other: string): void {
  const value = encodeHeaderValue(text)
  claim(isSafe(value) && value !== '' && value.trim() === value, `a header could be ended: ${value}`)
  claim(decodeHeaderValue(value) === wellFormed(text), `a text comes back as another: ${value}`)
  claim(checkValue('Mcp-Name', value, text) === undefined, 'a header that was just made is refused')
  const decoded = decodeHeaderValue(other)
  claim(decoded === undefined || wellFormed(decoded) === decoded, 'a header decodes to broken text')
  const taken = checkValue('Mcp-Name', other, text) === undefined
  claim(
    taken === (decoded !== undefined && decoded === wellFormed(text)),
    'a header is judged by more than what it says',
  )
}

function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

function isSafe(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function argsOf(random: Random): Readonly<Record<string, unknown>> {
  const value = (): unknown =>
    random.pick([
      () => anyText(random, 30),
      () => plainNumber(random),
      () => random.oneIn(2),
      () => null,
      () => plainValue(random),
    ])()
  return Object.fromEntries(
    random.list(4, () => [anyText(random), random.oneIn(4) ? { inner: value() } : value()]),
  )
}

function schemaOf(args: Readonly<Record<string, unknown>>, random: Random): unknown {
  const properties = Object.entries(args).map(([name, value], at) => {
    const inner = (value as { inner?: unknown } | null)?.inner
    if (inner !== undefined)
      return [name, { type: 'object', properties: { inner: marked(inner, `n${at}`, random) } }]
    return [name, marked(value, random.oneIn(6) ? anyText(random) : `h${at}`, random)]
  })
  return { type: 'object', properties: Object.fromEntries(properties), [META.logLevel]: 1 }
}

function marked(value: unknown, header: string, random: Random): object {
  const type = typeof value === 'number' ? 'integer' : typeof value === 'boolean' ? 'boolean' : 'string'
  return { type: random.oneIn(12) ? 'object' : type, 'x-mcp-header': header }
}
