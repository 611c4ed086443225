import type { AnyApp, Connection, ConnectionOptions } from './connection.ts'

/** An in-process connection. */
export async function openMemory(app: AnyApp, { receive }: ConnectionOptions): Promise<Connection> {
  const end = app.connect({ receive: (text) => receive(text, undefined) })
  return {
    send: async (text) => end.send(text),
    watch: async () => undefined,
    abandon: () => false,
    close: async () => end.close(),
  }
}
