import type { Command } from './command.ts'
import { info } from './commands/info.ts'
import { list } from './commands/list.ts'
import { ping } from './commands/ping.ts'
import { run } from './commands/run.ts'

/** Every command, in the order of the help. Help, completion and the reference page are made from this table. */
export const COMMANDS: readonly Command[] = [run, list, info, ping]
