import type { Came, Habits, Told } from '../protocol/wire-adapter.ts'
import type { Choices } from '../protocol/choices.ts'
import { isClaim } from '../wire/2026-07-28/decode.ts'
import { annotations } from './erlmcp/annotations.ts'
import { binaryContents } from './erlmcp/binary-contents.ts'
import { clientCapabilities } from './erlmcp/client-capabilities.ts'
import { completionShape } from './erlmcp/completion-shape.ts'
import { errorNumbers } from './erlmcp/error-numbers.ts'
import { extensionNames } from './erlmcp/extension-names.ts'
import { httpStatus } from './erlmcp/http-status.ts'
import { jsonrpcLoose } from './erlmcp/jsonrpc-loose.ts'
import { initialized } from './erlmcp/initialized.ts'
import { notificationNames } from './erlmcp/notification-names.ts'
import { progressTokens } from './erlmcp/progress-tokens.ts'
import { resourceBlocks } from './erlmcp/resource-blocks.ts'
import { samplingFields } from './erlmcp/sampling-fields.ts'
import { serverCapabilities } from './erlmcp/server-capabilities.ts'
import { toolExecute } from './erlmcp/tool-execute.ts'

/** What one choice changes; what it does not name stays as it is. */
export type Habit = Partial<Habits>

/** Makes the habit of a choice; undefined where it was made officially. */
export type MakeHabit = (choices: Choices) => Habit | undefined

const MAKERS: readonly MakeHabit[] = [
  jsonrpcLoose,
  toolExecute,
  extensionNames,
  progressTokens,
  notificationNames,
  initialized,
  errorNumbers,
  httpStatus,
  binaryContents,
  resourceBlocks,
  completionShape,
  annotations,
  serverCapabilities,
  clientCapabilities,
  samplingFields,
]

/** What a profile does to messages; undefined when it does nothing. */
export function habitsOf(choices: Choices): Habits | undefined {
  const habits = MAKERS.flatMap((make) => make(choices) ?? [])
  return habits.length === 0 ? undefined : joined(habits)
}

/** A message in the official form. What claims the newest revision speaks it as it is. */
function opened<Message extends Came>(message: Message, habits: Habits): Message {
  const { id, method, params } = message
  if (method === undefined || isClaim(params)) return message
  const told = { method, params: params ?? {} }
  return { ...message, ...(id === undefined ? habits.openNotification(told) : habits.openRequest(told)) }
}

/** All habits as one. Each is given what the one before made of a message. */
function joined(habits: readonly Habit[]): Habits {
  const inTurn = <Value>(value: Value, step: (habit: Habit, value: Value) => Value | undefined): Value =>
    habits.reduce((last, habit) => step(habit, last) ?? last, value)
  const find = <Name extends keyof Habit>(name: Name): Habit[Name] | undefined =>
    habits.find((habit) => habit[name] !== undefined)?.[name]
  const all: Habits = {
    read: find('read'),
    open: (message) => opened(message, all),
    openRequest: (asked) => inTurn<Told>(asked, (habit, last) => habit.openRequest?.(last)),
    openNotification: (told) => inTurn<Told>(told, (habit, last) => habit.openNotification?.(last)),
    openResult: (method, result) => inTurn(result, (habit, last) => habit.openResult?.(method, last)),
    meaning: find('meaning'),
    sealRequest: (method, params) => inTurn(params, (habit, last) => habit.sealRequest?.(method, last)),
    sealNotification: (told) => inTurn<Told>(told, (habit, last) => habit.sealNotification?.(last)),
    sealResult: (method, result) => inTurn(result, (habit, last) => habit.sealResult?.(method, last)),
    allowsOther: (method) => find('allowsOther')?.(method) ?? false,
    sealOther: (method, result) => find('sealOther')?.(method, result),
    sealError: (error, official) => inTurn(official, (habit, last) => habit.sealError?.(error, last)),
    statusOf: (error, status) => inTurn(status, (habit, last) => habit.statusOf?.(error, last)),
    answered: (method, tell) => habits.forEach((habit) => habit.answered?.(method, tell)),
  }
  return all
}
