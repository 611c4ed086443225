import { win32 } from 'node:path'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** How Windows is asked to run a batch file, which only its command interpreter can. */
export interface BatchCall {
  readonly file: string
  readonly args: readonly string[]
}

/** Whether a program is a batch file. */
export function isBatchFile(file: string): boolean {
  return /\.(?:bat|cmd)$/i.test(file)
}

/**
 * The call of the command interpreter for a batch file. Every argument stands in quotes, where only quotes, percent
 * signs, exclamation marks and line breaks mean anything; arguments that hold one are refused, not escaped.
 */
export function toBatchCall(file: string, args: readonly string[], systemRoot: string): BatchCall {
  const line = [file, ...args].map(quoted).join(' ')
  return {
    file: win32.join(systemRoot, 'System32', 'cmd.exe'),
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
  }
}

function quoted(word: string): string {
  if (/["%!\r\n\0]/.test(word)) {
    const reason = `${JSON.stringify(word.slice(0, 64))} cannot be given to a batch file safely; start the program behind it, for example node with its script`
    throw mcpError(BAD_OPTION, { where: 'args', reason })
  }
  // Before a quote the program takes a backslash for an escape.
  return `"${word.replace(/\\+$/, '$&$&')}"`
}
