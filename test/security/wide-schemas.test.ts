import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { headed } from '../http/messages.ts'

const names = Array.from({ length: 10 }, (_, at) => `f${at}`)
const shape = (part: (name: string) => z.ZodType): Record<string, z.ZodType> =>
  Object.fromEntries(names.map((name) => [name, part(name)]))
const ops = (count: number): object => ({ ops: Array.from({ length: count }, () => ({})) })

/** Calls a tool; returns the status and the text of the reply. */
async function call(app: App, name: string, args: object): Promise<readonly [number, string]> {
  const { body, headers } = headed('tools/call', { name, arguments: args as never })
  const reply = await app.fetch(new Request('http://localhost/mcp', { method: 'POST', body, headers }))
  return [reply.status, await reply.text()]
}

test('M.args-width many small parts for a wide schema are rejected before a library or our own check has read them', async () => {
  const wide = z.union([
    ...names.map((name) => z.object(shape((each) => z.string().describe(name + each)))),
    z.object({}),
  ])
  const raw = Array.from({ length: 60 }, (_, at) => ({ required: [`r${at}`] }))
  const app = createServer({ name: 'wide', version: '1', log: () => undefined })
  app.tool('library', { input: z.object({ ops: z.array(wide) }) }, () => 'ok')
  const items = { oneOf: [...raw, true] }
  app.tool('raw', { input: { type: 'object', properties: { ops: { items } } } }, () => 'ok')
  app.tool('answer', { output: z.object({ ops: z.array(wide) }) }, () => ops(99_000) as never)
  for (const name of ['library', 'raw']) {
    expect(await call(app, name, ops(99_000))).toEqual([200, expect.stringContaining('send less at once')])
    expect(await call(app, name, ops(990_000))).toEqual([
      400,
      expect.stringContaining('the message has more than 100000 objects and lists'),
    ])
  }
  expect(await call(app, 'library', ops(1000))).toEqual([200, expect.stringContaining('"ok"')])
  // The output is our own: its author finds the reason in the log.
  expect(await call(app, 'answer', {})).toEqual([200, expect.stringContaining('"isError":true')])
})

test('M.args-defaults limits.inFlightBytes count what defaults have made of the arguments, until the request is over', async () => {
  const lists = z.object(shape(() => z.array(z.string()).default([])))
  const started: (() => void)[] = []
  const app = createServer({
    name: 'defaults',
    version: '1',
    log: () => undefined,
    limits: { inFlightBytes: 20_000_000 },
  })
  onTestFinished(() => app.close())
  const tool = { input: z.object({ ops: z.array(lists) }) }
  app.tool('hold', tool, () => new Promise<string>((resolve) => started.push(() => resolve('ok'))))
  app.tool('now', tool, () => 'ok')
  expect(await call(app, 'now', ops(99_000))).toEqual([
    200,
    expect.stringContaining('becomes too large with its defaults'),
  ])
  // Each message has 30 KB, and its objects and lists about 10 MB.
  const first = call(app, 'hold', ops(10_000))
  await expect.poll(() => started.length).toBe(1)
  const second = call(app, 'hold', ops(10_000))
  expect(await second).toEqual([429, expect.stringContaining('too large together')])
  expect(await call(app, 'now', ops(10))).toEqual([200, expect.stringContaining('"ok"')])
  started[0]!()
  expect(await first).toEqual([200, expect.stringContaining('"ok"')])
  for (let count = 0; count < 3; count++)
    expect(await call(app, 'now', ops(10_000))).toEqual([200, expect.stringContaining('"ok"')])
})
