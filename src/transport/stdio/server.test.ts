import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../app/app.ts'
import { createServer } from '../../index.ts'
import { serveStdio } from './server.ts'

test('closing waits until everything is written, and no longer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const app = createServer({ name: 'small', version: '1', log: () => undefined })
  const output = new PassThrough()
  const server = serveStdio(serviceOf(app), { limits: app.limits, input: new PassThrough(), output })
  await expect(server.close()).resolves.toBeUndefined()
  await expect(server.closed).resolves.toBeUndefined()
})
