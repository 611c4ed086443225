import { afterAll, beforeAll, describe } from 'vitest'
import type { Running } from 'pierhead'
import { createInteropApp } from './app.ts'
import { checkAll, WAYS } from './ways.ts'

describe('over HTTP+SSE [R099]', () => {
  let running: Running
  beforeAll(async () => {
    running = await createInteropApp().listen({ http: { port: 0, sse: true } })
  })
  afterAll(() => running.close())

  checkAll(
    () => new URL('/sse', running.url).href,
    WAYS.filter(({ client }) => client === 'v1'),
  )
})
