import { PassThrough } from 'node:stream'
import { serviceOf } from '../../src/app/app.ts'
import { serveStdio } from '../../src/transport/stdio/server.ts'
import type { AnyApp, Connection, ConnectionOptions } from './connection.ts'

/** A stdio connection over two in-process streams. */
export async function openStdio(app: AnyApp, { receive }: ConnectionOptions): Promise<Connection> {
  const input = new PassThrough()
  const output = new PassThrough()
  const server = serveStdio(serviceOf(app), { limits: app.limits, input, output })
  let rest = ''
  output.setEncoding('utf8')
  output.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) receive(line, undefined)
  })
  return {
    send: async (text) => void input.write(`${text}\n`),
    watch: async () => undefined,
    abandon: () => false,
    close: async () => {
      input.end()
      await server.closed
    },
  }
}
