import { z } from 'zod'
import type { Context } from '../../src/index.ts'
import type { Mistake } from './mistake.ts'

function handled(
  wrote: string,
  run: (ctx: Context) => unknown,
  problem: string | RegExp,
  fix: string | RegExp,
): Mistake {
  return {
    wrote,
    make: ({ server, call }) => call(server().tool('a', {}, (_, ctx) => run(ctx))),
    problem,
    fix,
  }
}

/** Mistakes with the context: progress, questions, `provide` and middleware. */
export const context: readonly Mistake[] = [
  handled(
    "ctx.progress('50%')",
    (ctx) => (ctx.progress('50%' as never), 'x'),
    'tool "a" reported the progress "50%", which is not a number',
    'progress(50, 100)',
  ),
  handled(
    'ctx.progress({ progress: 5, total: 10 }), as in the official SDK',
    (ctx) => (ctx.progress({ progress: 5, total: 10 } as never), 'x'),
    'tool "a" reported the progress {"progress":5,"total":10}, which is not a number',
    'progress(50, 100)',
  ),
  handled(
    'progress that falls',
    (ctx) => (ctx.progress(5), ctx.progress(3), 'x'),
    'tool "a" reported the progress 3 after 5, which was not sent',
    'progress must increase',
  ),
  handled(
    'ctx.progress(0.5, "1")',
    (ctx) => (ctx.progress(0.5, '1' as never), 'x'),
    'the total "1", which is not a number',
    'progress(50, 100)',
  ),
  handled(
    'ctx.hangUp()',
    (ctx) => (ctx as unknown as { hangUp(): void }).hangUp(),
    'ctx.hangUp',
    'it is called ctx.closeStream',
  ),
  handled(
    'ctx.elicit without answers in the client',
    (ctx) => ctx.elicit('?', z.object({ name: z.string() })),
    /elicitation/,
    'answers: { elicit',
  ),
  handled(
    'ctx.sample without answers in the client',
    (ctx) => ctx.sample({ messages: [{ role: 'user', content: 'x' }] }),
    /sampling/,
    'answers: { elicit, sample',
  ),
  handled(
    'ctx.roots without answers in the client',
    (ctx) => ctx.roots(),
    /roots/,
    'answers: { elicit, sample, roots }',
  ),
  {
    wrote: 'ctx.elicit with a nested form',
    make: ({ server, call }) => {
      const schema = z.object({ to: z.object({ city: z.string() }) })
      const app = server().tool('a', {}, async (_, ctx) => (await ctx.elicit('?', schema)).action)
      return call(app, {}, { answers: { elicit: () => ({ action: 'decline' }) } })
    },
    problem: 'has the property "to", a nested object that no form can ask for',
    fix: 'A form is a flat object of strings, numbers, booleans and choices',
  },
  {
    wrote: 'ctx.elicit with a nullable field',
    make: ({ server, call }) => {
      const schema = z.object({ to: z.string().nullable() })
      const app = server().tool('a', {}, async (_, ctx) => (await ctx.elicit('?', schema)).action)
      return call(app, {}, { answers: { elicit: () => ({ action: 'decline' }) } })
    },
    problem: 'lets the property "to" be null',
    fix: 'Make it optional instead of nullable',
  },
  {
    wrote: "ctx.elicitUrl('pay', 'example.com')",
    make: ({ server, call }) => {
      const app = server().tool('a', {}, async (_, ctx) => (await ctx.elicitUrl('pay', 'example.com')).action)
      return call(app, {}, { answers: { elicitUrl: () => ({ action: 'decline' }) } as never })
    },
    problem: '"example.com" is not a URL',
    fix: 'write https://…',
  },
  {
    wrote: "ctx.sample({ messages: 'hello' })",
    make: ({ server, call }) => {
      const app = server().tool('a', {}, async (_, ctx) => ctx.sample({ messages: 'hello' as never }))
      return call(
        app,
        {},
        {
          answers: {
            sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } }),
          } as never,
        },
      )
    },
    problem: /messages/,
    fix: /\{ role|list/,
  },
  {
    wrote: 'app.provide(() => { … }), without return',
    make: ({ server, call }) =>
      call(
        server()
          .provide((() => undefined) as never)
          .tool('a', {}, () => 'x'),
      ),
    problem: 'provide returned undefined, so it added nothing',
    fix: 'provide(() => ({ db }))',
  },
  {
    wrote: "app.provide(() => 'db')",
    make: ({ server, call }) =>
      call(
        server()
          .provide((() => 'db') as never)
          .tool('a', {}, () => 'x'),
      ),
    problem: 'provide returned a string, so it added nothing',
    fix: 'provide(() => ({ db }))',
  },
  {
    wrote: 'app.provide(() => ({ signal })), a member of every context',
    make: ({ server, call }) =>
      call(
        server()
          .provide((() => ({ signal: 1 })) as never)
          .tool('a', {}, () => 'x'),
      ),
    problem: 'provide: "signal" is a member of every context',
    fix: 'choose another name',
  },
  {
    wrote: 'middleware that awaits next() and returns nothing',
    make: ({ server, call }) =>
      call(
        server()
          .use(
            'tools/call',
            (async (_: unknown, next: () => Promise<unknown>) => void (await next())) as never,
          )
          .tool('a', {}, () => 'x'),
      ),
    problem: 'middleware returned nothing for tools/call, so the result of next() was used',
    fix: 'write return next()',
  },
  {
    wrote: 'middleware that neither calls next() nor returns a result',
    make: ({ server, call }) =>
      call(
        server()
          .use('tools/call', (() => undefined) as never)
          .tool('a', {}, () => 'x'),
      ),
    problem: 'middleware returned nothing for tools/call and did not call next()',
    fix: 'write return next()',
  },
  {
    wrote: 'middleware that calls next() twice',
    make: ({ server, call }) =>
      call(
        server()
          .use('tools/call', async (_, next) => (await next(), next()))
          .tool('a', {}, () => 'x'),
      ),
    problem: 'middleware called next() twice for tools/call',
    fix: 'call it once and keep its result',
  },
  {
    wrote: 'middleware that returns text',
    make: ({ server, call }) =>
      call(
        server()
          .use('tools/call', (() => 'x') as never)
          .tool('a', {}, () => 'x'),
      ),
    problem: 'middleware returned a string for tools/call',
    fix: 'return the result of next()',
  },
  {
    wrote: 'an error caught around ctx.elicit at 2026-07-28',
    make: ({ server, call }) => {
      const app = server().tool('a', {}, async (_, ctx) => {
        try {
          return (await ctx.elicit('?', z.object({}))).action
        } catch (error) {
          return `${(error as Error).message} ${(error as { hint?: string }).hint}`
        }
      })
      return call(app, {}, { revision: '2025-11-25' })
    },
    problem: /elicitation/,
    fix: 'ctx.client.supports()',
  },
  {
    wrote: 'ctx.once with a value that JSON cannot hold',
    make: ({ server, call }) => {
      const app = server().tool('a', {}, async (_, ctx) => {
        await ctx.once('n', () => 1n)
        return (await ctx.elicit('?', z.object({}))).action
      })
      return call(app, {}, { answers: { elicit: () => ({ action: 'accept', content: {} }) } })
    },
    problem: /ctx\.once\("n"\)/,
    fix: /JSON/,
  },
]
