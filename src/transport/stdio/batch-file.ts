import { win32 } from 'node:path'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'

/** A call of the Windows command interpreter, which alone can run batch files. */
export interface BatchCall {
  readonly file: string
  readonly args: readonly string[]
}

/** Whether a program is a batch file. */
export function isBatchFile(file: string): boolean {
  return /\.(?:bat|cmd)$/i.test(file)
}

/**
 * The call of the command interpreter for a batch file. Every argument is quoted. Inside quotes only quotes, percent
 * signs, exclamation marks and line breaks are special; arguments that contain one are rejected, not escaped.
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
    const reason = `${JSON.stringify(word.slice(0, 64))} cannot be passed to a batch file safely; start the program that it runs, for example node with a script`
    throw mcpError(BAD_OPTION, { where: 'args', reason })
  }
  // Programs read a backslash before a quote as an escape.
  return `"${word.replace(/\\+$/, '$&$&')}"`
}
