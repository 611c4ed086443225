import { expand, type TemplateValues } from '../../../src/uri-template/expand.ts'
import { match } from '../../../src/uri-template/match.ts'
import { parseTemplate, type UriTemplate } from '../../../src/uri-template/parse.ts'
import { claim, target, type Target } from '../fuzz.ts'
import { mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { anyText, plainValue } from '../values.ts'

interface Input {
  readonly template: string
  readonly uri: string
  readonly values: TemplateValues
  /** Whether the template is one whose expansions can be read back. */
  readonly reversible: boolean
}

const TOKENS = [
  '{',
  '}',
  '{a}',
  '{+b}',
  '{/c*}',
  '{?d,e}',
  '{&f*}',
  '{;g}',
  '{#h}',
  '{.i}',
  '{j:3}',
  '*',
  ':',
  ',',
  '%20',
  '%C3%BC',
  '%ff',
  '/',
  '?',
  '&',
  '=',
  '#',
  ';',
  '.',
  'é',
]
const SYMBOLS = ['', '+', '#', '.', '/', ';', '?', '&']

/** Templates are read or refused with a reason; matching never throws nor takes long; expansions that can be read back are. */
/** The steps that a match takes anyway, and at most for each pair of a character of the URI and one of the template. */
const PER_MATCH = 320
const PER_PAIR = 32

export const urisTarget: Target = target<Input>({
  name: 'uris',
  share: 9,
  make(random) {
    const reversible = random.oneIn(3)
    const { template, values } = reversible ? reversibleOf(random) : anyTemplate(random)
    const uri = random.oneIn(2) ? anyUri(random) : mutateText(template, random, TOKENS)
    return { template, values, uri, reversible }
  },
  check({ template: text, uri, values, reversible }) {
    const template = parsed(text)
    if (template === undefined) return claim(!reversible, 'a good template is refused')
    const work = { steps: 0 }
    const found = match(template, uri, work)
    claim(
      work.steps <= PER_MATCH + (uri.length + 1) * (text.length + 1) * PER_PAIR,
      `matching ${uri.length} letters took ${work.steps} steps`,
    )
    if (found !== undefined && !uri.includes('%')) {
      const again = match(template, expand(template, found))
      claim(
        JSON.stringify(again) === JSON.stringify(found),
        `what was read expands to something else: ${JSON.stringify([found, again])}`,
      )
    }
    const expanded = expansion(template, values)
    if (expanded === undefined) return claim(!reversible, 'good values cannot be expanded')
    claim(/^(?:%[0-9A-Fa-f]{2}|[!#$&-;=?-[\]_a-z~])*$/.test(expanded), `an expansion is no URI: ${expanded}`)
    if (!reversible || expanded.length > 8192) return
    const read = match(template, expanded)
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
    claim(sorted({ ...read }) === sorted(given), `${expanded} is read as ${JSON.stringify(read)}`)
  },
})

function parsed(text: string): UriTemplate | undefined {
  try {
    return parseTemplate(text)
  } catch (thrown) {
    claim(
      /^(?:Malformed URI template|The URI template) /.test((thrown as Error).message),
      `an odd refusal: ${(thrown as Error).message}`,
    )
    return undefined
  }
}

function expansion(template: UriTemplate, values: TemplateValues): string | undefined {
  try {
    return expand(template, values)
  } catch (thrown) {
    claim((thrown as Error).message.startsWith('The va'), `an odd refusal: ${(thrown as Error).message}`)
    return undefined
  }
}

function sorted(values: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

interface Made {
  readonly template: string
  readonly values: TemplateValues
}

function anyTemplate(random: Random): Made {
  let count = 0
  const expression = (): string => {
    const names = Array.from(
      { length: 1 + random.few(3) },
      () => `v${count++}${random.pick(['', '', '*', ':1', ':3'])}`,
    )
    return `{${random.pick(SYMBOLS)}${names.join(',')}}`
  }
  let template = random
    .list(7, () =>
      random.oneIn(2) ? expression() : random.pick(['a', '/', 'x?', '&', '=', ',', '.', '%20', ';v1=', 'é']),
    )
    .join('')
  if (random.oneIn(4)) template = mutateText(template, random, TOKENS)
  const values = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`v${at}`, plainValue(random, 2)]),
  )
  return { template, values: values as TemplateValues }
}

function anyUri(random: Random): string {
  const pieces = [
    'a',
    'b',
    '/',
    '?',
    '&',
    '=',
    ',',
    '.',
    ';',
    '#',
    'v0',
    'v1=',
    '%20',
    '%C3%BC',
    '%',
    'é',
    '%ed%a0%80',
  ]
  const uri = random.list(14, () => random.pick(pieces)).join('')
  return random.oneIn(50) ? uri.repeat(random.pick([20, 200])) : uri
}

function reversibleOf(random: Random): Made {
  const text = (least: number): string => wellFormed(anyText(random)) || 'a'.repeat(least)
  const list = (least: number): string[] => Array.from({ length: random.between(least, 3) }, () => text(1))
  const maybe = (): string | undefined => (random.oneIn(3) ? undefined : text(0))
  const path = text(1).replace(/[%?#;]/g, '-')
  const start = random.pick<Made>([
    { template: 'a://', values: {} },
    { template: 'a://{id}', values: { id: text(1) } },
    { template: 'a://{id}/x-y/{other}', values: { id: text(1), other: text(1) } },
    { template: 'é:/{/one,two}', values: { one: text(0), two: text(0) } },
    { template: 'a://{x,y}', values: { x: text(1), y: text(1) } },
    { template: 'a://{list*}', values: { list: list(1) } },
  ])
  const middle = random.pick<Made>([
    { template: '', values: {} },
    { template: '/to/{+path}', values: { path } },
    { template: '/in{/segments*}', values: { segments: list(0) } },
    { template: '/in{/segment}', values: { segment: maybe() } },
  ])
  const query = random.pick<Made>([
    { template: '', values: {} },
    { template: '{;m,n*}', values: { m: maybe(), n: list(0) } },
    { template: '{?q,page}', values: { q: maybe(), page: maybe() } },
    { template: '{?tags*,q}', values: { q: maybe(), tags: list(0) } },
    { template: '?fixed=1{&q,page}', values: { q: maybe(), page: maybe() } },
    { template: '{#frag}', values: { frag: maybe()?.replaceAll('%', '-') } },
  ])
  return {
    template: start.template + middle.template + query.template,
    values: { ...start.values, ...middle.values, ...query.values },
  }
}

function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
