import { QUESTIONS } from '../client/offer.ts'
import type { Scenario } from '../client/scenario.ts'
import type { Turn } from '../client/turn.ts'
import type { Visit } from '../client/visit.ts'
import { member, type Message } from '../message.ts'
import { D_ONLY, TRANSPORTS } from '../rule.ts'
import { modesIn } from './questions-seen.ts'

const STEPS = 'steps'
/** A cancelled task must stay so for this time. */
const SETTLE_MS = 120

/** What our server asked about tasks of the client, and the responses. The names of the steps are the order in which they come. */
export interface TaskSteps {
  readonly method: string
  /** Whether the client declared tasks for the method. */
  readonly isDeclared: boolean
  readonly created?: Message | undefined
  readonly first?: Message | undefined
  readonly outcome?: Message | undefined
  readonly after?: Message | undefined
  readonly lateCancel?: Message | undefined
  readonly afterCancel?: Message | undefined
  readonly cancelled?: Message | undefined
  readonly stays?: Message | undefined
}

/** The steps of a visit; undefined if there was nothing to ask. */
export function stepsOf(visit: Visit): TaskSteps | undefined {
  return visit.notes.get(STEPS) as TaskSteps | undefined
}

/** A server that asks its questions as tasks, as 2025-11-25 allows it. */
export const TASK_QUESTIONS: Scenario = {
  name: 'task-questions',
  does: 'asks the client to answer a question as a task',
  revisions: D_ONLY,
  transports: TRANSPORTS,
  begin() {
    let isFirst = true
    return {
      async message(turn) {
        if (turn.method !== 'tools/call' || !isFirst) return false
        isFirst = false
        const question = questionFor(turn)
        if (question !== undefined) turn.visit.notes.set(STEPS, await steps(turn, question))
        return false
      },
    }
  },
}

interface TaskQuestion {
  readonly method: string
  readonly params: Message
  readonly isDeclared: boolean
}

/** A question that the client answers, as a task if there is one. */
function questionFor({ capabilities }: Turn): TaskQuestion | undefined {
  const all = ['ask_user', 'ask_model'].flatMap((tool): readonly TaskQuestion[] => {
    const [capability, method, params] = QUESTIONS[tool]!
    const isAnswered =
      capability === 'elicitation'
        ? modesIn(capabilities).includes('form')
        : Object.hasOwn(capabilities, capability)
    const [, action = ''] = method.split('/')
    const isDeclared = member(capabilities, 'tasks', 'requests', capability, action) !== undefined
    return isAnswered ? [{ method, params, isDeclared }] : []
  })
  return all.find(({ isDeclared }) => isDeclared) ?? all[0]
}

async function steps(turn: Turn, { method, params, isDeclared }: TaskQuestion): Promise<TaskSteps> {
  const create = (): Promise<Message | undefined> => turn.ask(method, { ...params, task: { ttl: 60_000 } })
  const created = await create()
  const taskId = member(created, 'result', 'task', 'taskId')
  if (!isDeclared || taskId === undefined) return { method, isDeclared, created }
  const first = await turn.ask('tasks/get', { taskId })
  const outcome = await turn.ask('tasks/result', { taskId })
  const after = await turn.ask('tasks/get', { taskId })
  const some = { method, isDeclared, created, first, outcome, after }
  if (member(turn.capabilities, 'tasks', 'cancel') === undefined) return some
  const lateCancel = await turn.ask('tasks/cancel', { taskId })
  const afterCancel = await turn.ask('tasks/get', { taskId })
  const other = member(await create(), 'result', 'task', 'taskId')
  const cancelled = await turn.ask('tasks/cancel', { taskId: other })
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const stays = await turn.ask('tasks/get', { taskId: other })
  return { ...some, lateCancel, afterCancel, cancelled, stays }
}
