import { afterAll, beforeAll, describe } from 'vitest'
import type { Running } from 'pierhead'
import { createInteropApp } from './app.ts'
import { checkAll } from './ways.ts'

describe('over HTTP', () => {
  let running: Running
  beforeAll(async () => {
    running = await createInteropApp().listen({ http: { port: 0 } })
  })
  afterAll(() => running.close())

  checkAll(() => running.url)
})
