import { app } from './pierhead-server.mjs'

/** Connects a client in the same process: text in, text out. */
export function connect(receive) {
  const end = app.connect({ receive })
  return { send: (text) => end.send(text) }
}
