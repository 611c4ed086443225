import { options } from './options.mjs'
import { createApp } from './pierhead-server.mjs'

/** Connects a client in the same process: text in, text out. Each call creates its own server. */
export function connect(receive, wide = options.wide) {
  const end = createApp(wide).connect({ receive })
  return { send: (text) => end.send(text) }
}
