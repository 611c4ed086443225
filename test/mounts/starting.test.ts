import { connect } from 'pierhead/client'
import { expect, onTestFinished, test } from 'vitest'
import { startWorker } from './worker.ts'

test('under workerd, onStart runs once, with the first request', async () => {
  const { url, stop } = await startWorker('exported/starting.ts')
  onTestFinished(stop)
  const clients = await Promise.all([connect(url), connect(url), connect(url)])
  for (const client of clients) {
    onTestFinished(() => client.close())
    expect(await client.call('starts', {})).toBe('1')
  }
})
