import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { HeldStreams } from '../../src/cli/dev/held-streams.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapAfterCollection(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('the bodies of open subscriptions take little memory in dev, whatever the size of their chunks', () => {
  new HeldStreams().watch()
  const before = heapAfterCollection()
  const open: EventEmitter[] = []
  for (let each = 0; each < 50; each++) {
    const socket = new Socket()
    const request = new IncomingMessage(socket)
    request.method = 'POST'
    request.headers = { 'mcp-method': 'subscriptions/listen' }
    const response = new EventEmitter()
    open.push(response)
    channel('http.server.request.start').publish({ request, response, server: {} })
    request.resume()
    for (let at = 0; at < 20_000; at++) request.push(Buffer.from('x'))
    while (request.read() !== null);
  }
  onTestFinished(() => open.forEach((one) => void one.emit('close')))
  expect(heapAfterCollection() - before).toBeLessThan(10_000_000)
})
