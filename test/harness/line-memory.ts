import type { AnyApp, Line, LineOptions } from './line.ts'

/** A connection inside the process. */
export async function openMemory(app: AnyApp, { receive }: LineOptions): Promise<Line> {
  const end = app.connect({ receive: (text) => receive(text, undefined) })
  return {
    send: async (text) => end.send(text),
    watch: async () => undefined,
    abandon: () => false,
    close: async () => end.close(),
  }
}
