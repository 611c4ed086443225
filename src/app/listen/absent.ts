import { badOption } from '../../base/options.ts'

/** Replaces `listen` on runtimes that cannot open ports. */
export function listen(): never {
  const reason = 'it needs Node.js, Bun or Deno; on Workers, export the app: export default app'
  throw badOption('app.listen', reason)
}

/** Replaces `work` on runtimes whose processes end with their requests. */
export function work(): never {
  throw badOption('app.work', 'it needs a process of Node.js, Bun or Deno')
}
