import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'

/** A server with one place, and a tool that asks beside work that never ends. */
function stuck(options: { readonly timeout?: string } = {}, onBegin?: () => void): App {
  const limits = { allInFlight: 1, queued: 0 }
  const app = createServer({ name: 'stuck', version: '1.0.0', limits, log: () => undefined })
  app.tool('ask', { ...options, input: { type: 'object' } }, async (_, ctx) => {
    onBegin?.()
    const never = new Promise<never>(() => undefined)
    await Promise.all([
      ctx.once('work', () => never),
      ctx.elicit('Go on?', { type: 'object', properties: {} }),
    ])
  })
  app.tool('plain', {}, async () => 'fine')
  return app
}

describe('a question beside a ctx.once function that never ends gives its place back', () => {
  const elicit = async () => ({ action: 'accept', content: {} }) as const

  test.each(['2025-11-25', '2026-07-28'] as const)(
    'after the timeout of its tool at %s',
    async (revision) => {
      const client = await connect(stuck({ timeout: '300ms' }), {
        revision,
        recovery: false,
        answers: { elicit },
      })
      onTestFinished(() => client.close())
      await expect(client.call('ask', {})).rejects.toThrow('did not finish within 300 ms')
      expect(await client.call('plain')).toBe('fine')
    },
  )

  test('when the client cancels at 2026-07-28', async () => {
    let onBegin = (): void => undefined
    const begun = new Promise<void>((resolve) => (onBegin = resolve))
    const app = stuck({}, onBegin)
    const client = await connect(app, { revision: '2026-07-28', recovery: false, answers: { elicit } })
    onTestFinished(() => client.close())
    const cancelling = new AbortController()
    const asked = client.call('ask', {}, { signal: cancelling.signal })
    await begun
    cancelling.abort()
    await expect(asked).rejects.toMatchObject({ kind: 'cancelled' })
    await expect.poll(() => client.call('plain').catch(() => undefined)).toBe('fine')
  })
})
