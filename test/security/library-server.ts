// A server with schemas of libraries, as a program that can be given little memory. It gets large values with a problem in
// every part, or in none, and tells how it replied.
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'
import type { AnySchema } from '../../src/schema/schema.ts'

interface Case {
  readonly input: AnySchema
  /** A good and a bad part of the text of the arguments, and how often the bad one comes. */
  readonly good: string
  readonly bad: string
  readonly times: number
  /** What is around the parts. */
  readonly around?: readonly [before: string, after: string]
}

const LIST = ['{"list":[', ']}'] as const
const zodList = (item: z.ZodType): AnySchema => z.object({ list: z.array(item) })
const UUID = '"4dbd1cd0-56ac-4f29-8f4f-4a7d5ac5cbc3"'
const kinds = (item: z.ZodType): AnySchema =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('list'), list: z.array(item) }),
    z.object({ kind: z.literal('none') }),
  ])

// oxfmt-ignore
const CASES: Readonly<Record<string, Case>> = {
  email:        { input: zodList(z.email()), good: '"a@b.cd"', bad: '"x"', times: 990_000 },
  uuid:         { input: zodList(z.uuid()), good: UUID, bad: '"x"', times: 990_000 },
  url:          { input: zodList(z.url()), good: '"http://a.b"', bad: '"x"', times: 100_000 },
  regex:        { input: zodList(z.string().regex(/^a$/)), good: '"a"', bad: '"b"', times: 990_000 },
  multiple:     { input: zodList(z.number().multipleOf(2)), good: '2', bad: '1', times: 990_000 },
  refine:       { input: zodList(z.number().refine((n) => n > 1)), good: '2', bad: '1', times: 990_000 },
  coerce:       { input: zodList(z.coerce.number()), good: '"2"', bad: '"x"', times: 990_000 },
  transform:    { input: zodList(z.string().transform(Number).pipe(z.number())), good: '"2"', bad: '"x"', times: 990_000 },
  missing:      { input: zodList(z.object({ a: z.number(), b: z.number().default(1) })), good: '{"a":1}', bad: '{}', times: 240_000 },
  alternatives: { input: zodList(z.union([z.email(), z.uuid(), z.null()])), good: 'null', bad: '"x"', times: 400_000 },
  'one-of-lists': { input: z.object({ list: z.union([z.array(z.email()), z.array(z.uuid())]) }), good: UUID, bad: '1', times: 400_000 },
  kinds:        { input: kinds(z.email()), good: '"a@b.cd"', bad: '"x"', times: 990_000, around: ['{"list":[', '],"kind":"list"}'] },
  'two-stages': { input: z.object({ list: z.array(z.string()), names: z.array(z.string()) }).transform(({ list }) => ({ list })).pipe(z.object({ list: z.array(z.email()) })),
                  good: '"a@b.cd"', bad: '"x"', times: 900_000, around: ['{"list":[', `],"names":[${'"n",'.repeat(20_000)}"n"]}`] },
  tuple:        { input: z.object({ list: z.tuple([z.string()], z.number()) }), good: '2', bad: 'null', times: 990_000, around: ['{"list":["first",', ']}'] },
  lists:        { input: zodList(z.array(z.email())), good: `["a@b.cd"${',"a@b.cd"'.repeat(98)}]`, bad: `["x"${',"x"'.repeat(98)}]`, times: 9900 },
  'few-lists':  { input: zodList(z.array(z.email())), good: `["a@b.cd"${',"a@b.cd"'.repeat(19_999)}]`, bad: `["x"${',"x"'.repeat(19_999)}]`, times: 45 },
  bounds:       { input: z.object({ list: z.array(z.email()).min(5000) }), good: '"a@b.cd"', bad: '"x"', times: 990_000 },
  valibot:      { input: toStandardJsonSchema(v.object({ list: v.array(v.pipe(v.string(), v.email())) })), good: '"a@b.cd"', bad: '"x"', times: 990_000 },
  arktype:      { input: type({ list: 'string.email[]' }) as AnySchema, good: '"a@b.cd"', bad: '"x"', times: 400_000 },
}

const app = createServer({ name: 'libraries', version: '1', log: () => undefined })
for (const [name, { input }] of Object.entries(CASES)) app.tool(name, { input } as never, () => 'ok')
app.tool('record', { input: z.record(z.string(), z.email()) } as never, () => 'ok')

/** What the server says to arguments. */
async function call(name: string, args: string): Promise<string> {
  const _meta = JSON.stringify({ [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} })
  const text = await new Promise<string>((resolve) => {
    const end = app.connect({ receive: resolve })
    end.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args},"_meta":${_meta}}}`,
    )
  })
  const { result } = JSON.parse(text) as { result?: { content?: readonly { text: string }[] } }
  return result?.content?.[0]?.text ?? text
}

const named = (value: string): string =>
  `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":"${value}"`).join(',')}}`
const told: Record<string, readonly string[]> = {
  record: [await call('record', named('a@b.cd')), await call('record', named('x'))],
}
for (const [name, { good, bad, times, around: [before, after] = LIST }] of Object.entries(CASES)) {
  const args = (part: string, count: number): string =>
    `${before}${`${part},`.repeat(count - 1)}${part}${after}`
  told[name] = [await call(name, args(good, Math.min(times, 20_000))), await call(name, args(bad, times))]
}
process.stdout.write(JSON.stringify(told))
