import type { Command } from './command.ts'
import { add } from './commands/add.ts'
import { authLogin } from './commands/auth-login.ts'
import { authLogout } from './commands/auth-logout.ts'
import { authStatus } from './commands/auth-status.ts'
import { build } from './commands/build.ts'
import { call } from './commands/call.ts'
import { complete } from './commands/complete.ts'
import { completion } from './commands/completion.ts'
import { create } from './commands/create.ts'
import { dev } from './commands/dev.ts'
import { doctor } from './commands/doctor.ts'
import { info } from './commands/info.ts'
import { install } from './commands/install.ts'
import { keysAllow } from './commands/keys-allow.ts'
import { keysCreate } from './commands/keys-create.ts'
import { keysShow } from './commands/keys-show.ts'
import { list } from './commands/list.ts'
import { ping } from './commands/ping.ts'
import { prompt } from './commands/prompt.ts'
import { read } from './commands/read.ts'
import { run } from './commands/run.ts'
import { tasksCancel } from './commands/tasks-cancel.ts'
import { tasksList } from './commands/tasks-list.ts'
import { tasksRetry } from './commands/tasks-retry.ts'
import { tasksShow } from './commands/tasks-show.ts'
import { tasksWait } from './commands/tasks-wait.ts'
import { test } from './commands/test.ts'
import { conformance, validate } from './commands/validate.ts'
import { watch } from './commands/watch.ts'

/** Every command, in the order of the help. Help, completion and the reference page are made from this table. */
export const COMMANDS: readonly Command[] = [
  create,
  add,
  run,
  dev,
  build,
  list,
  call,
  read,
  prompt,
  complete,
  watch,
  info,
  ping,
  tasksList,
  tasksShow,
  tasksWait,
  tasksCancel,
  tasksRetry,
  test,
  validate,
  conformance,
  doctor,
  install,
  authLogin,
  authStatus,
  authLogout,
  keysCreate,
  keysShow,
  keysAllow,
  completion,
]
