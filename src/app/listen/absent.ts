import { BAD_OPTION } from '../../errors/base.ts'
import { mcpError } from '../../errors/error.ts'

/** Replaces `listen` on runtimes that cannot open ports. */
export function listen(): never {
  const reason = 'it needs Node.js, Bun or Deno; on Workers, export the app: export default app'
  throw mcpError(BAD_OPTION, { where: 'app.listen', reason })
}
