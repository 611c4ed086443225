import type { Argument, Option } from './command.ts'
import { wrongUsage } from './failure.ts'
import type { Surroundings } from './project-files.ts'
import { sourceFile, type SourceFile } from './source-file.ts'
import { checkManifest, obstacles, projectServer } from './project-server.ts'

/** The file of the commands that run or build one. */
export const FILE_ARGUMENT: Argument = {
  name: 'file',
  summary: 'such as server.ts, or server.ts:name; the server of the project by default',
  isOptional: true,
}

export const STDIO_OPTION: Option = { flags: '--stdio', summary: 'serve over stdin and stdout' }

/** The options for the address of HTTP. */
export const ADDRESS_OPTIONS: readonly Option[] = [
  { flags: '-p, --port <number>', summary: 'the port of HTTP (PORT, that of the program, or 3000)' },
  { flags: '--host <address>', summary: 'the address of HTTP (HOST, that of the program, or 127.0.0.1)' },
  {
    flags: '--hosts <names>',
    summary: 'the names under which clients reach it, with commas between them (HOSTS)',
  },
]

/** The file that the first word names, or the one of the project. `verb` is the command. */
export function fileOf(word: string | undefined, io: Surroundings, verb: string): SourceFile {
  const named = word ?? projectServer(io)?.file
  if (named === undefined)
    throw wrongUsage(
      `there is no file to ${verb === 'dev' ? 'run' : verb}`,
      [`Write pierhead ${verb} server.ts.`, ...obstacles(io)].join('\n'),
    )
  const source = sourceFile(named, io.cwd)
  checkManifest(source.path, io.env)
  return source
}
