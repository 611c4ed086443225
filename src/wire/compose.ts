import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { InitializeRequestParams, InitializeResult } from '../protocol/spec/2025-11-25.ts'
import type {
  CallToolResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListRootsResult,
  ListToolsResult,
  PromptMessage,
  ReadResourceResult,
} from '../protocol/spec/2026-07-28.ts'
import type { Lowering, Step } from './lowering.ts'
import { change, changeEach } from './reshape.ts'

/** Combines two lowerings into one. `step` contains only its own rules. */
export function compose(newer: Lowering, step: Lowering): Lowering {
  const older = withWholes(step)
  return {
    supportsUrl: newer.supportsUrl ?? older.supportsUrl,
    implementation: then(newer.implementation, older.implementation),
    capabilities: then(newer.capabilities, older.capabilities),
    clientCapabilities: then(newer.clientCapabilities, older.clientCapabilities),
    initializeParams: then(newer.initializeParams, older.initializeParams),
    initializeResult: then(newer.initializeResult, older.initializeResult),
    tool: then(newer.tool, older.tool),
    resource: then(newer.resource, older.resource),
    template: then(newer.template, older.template),
    prompt: then(newer.prompt, older.prompt),
    hints: newer.hints ?? older.hints,
    toolList: then(newer.toolList, older.toolList),
    resourceList: then(newer.resourceList, older.resourceList),
    templateList: then(newer.templateList, older.templateList),
    promptList: then(newer.promptList, older.promptList),
    content: then(newer.content, older.content),
    contents: then(newer.contents, older.contents),
    callResult: then(newer.callResult, older.callResult),
    readResult: then(newer.readResult, older.readResult),
    task: then(newer.task, older.task),
    taskList: then(newer.taskList, older.taskList),
    promptMessage: then(newer.promptMessage, older.promptMessage),
    promptResult: then(newer.promptResult, older.promptResult),
    complete: then(newer.complete, older.complete),
    progress: then(newer.progress, older.progress),
    elicit: then(newer.elicit, older.elicit),
    elicitAnswer: answering(newer, older),
    sample: then(newer.sample, older.sample),
    sampleResult: then(newer.sampleResult, older.sampleResult),
    root: then(newer.root, older.root),
    rootsResult: then(newer.rootsResult, older.rootsResult),
  }
}

/** Derives the rules for messages from the rules for their parts. */
function withWholes(step: Lowering): Lowering {
  const { implementation, capabilities, clientCapabilities, content, hints } = step
  const promptMessage = then<PromptMessage>(step.promptMessage, member('content', content))
  return {
    ...step,
    initializeParams: then<InitializeRequestParams>(
      member('capabilities', clientCapabilities),
      member('clientInfo', implementation),
    ),
    initializeResult: then<InitializeResult>(
      member('capabilities', capabilities),
      member('serverInfo', implementation),
    ),
    toolList: then<ListToolsResult>(hints, member('tools', each(step.tool))),
    resourceList: then<ListResourcesResult>(hints, member('resources', each(step.resource))),
    templateList: then<ListResourceTemplatesResult>(hints, member('resourceTemplates', each(step.template))),
    promptList: then<ListPromptsResult>(hints, member('prompts', each(step.prompt))),
    callResult: then<CallToolResult>(member('content', each(content)), step.callResult),
    readResult: then<ReadResourceResult>(
      then<ReadResourceResult>(hints, member('contents', each(step.contents))),
      step.readResult,
    ),
    taskList: member<JsonObject, 'tasks'>('tasks', each(step.task) as Step<unknown> | undefined),
    promptMessage,
    promptResult: then<GetPromptResult>(member('messages', each(promptMessage)), step.promptResult),
    rootsResult: then<ListRootsResult>(member('roots', each(step.root)), step.rootsResult),
  }
}

function then<Value>(
  first: Step<Value> | undefined,
  second: Step<Value> | undefined,
): Step<Value> | undefined {
  if (first === undefined || second === undefined) return first ?? second
  return (value, index) => second(first(value, index), index)
}

function member<Value extends object, Name extends keyof Value>(
  name: Name,
  step: Step<Value[Name]> | undefined,
): Step<Value> | undefined {
  if (step === undefined) return undefined
  return (value, index) => change(value, name, (part) => step(part, index))
}

function each<Item>(step: Step<Item> | undefined): Step<readonly Item[]> | undefined {
  return step === undefined ? undefined : (items) => changeEach(items, step)
}

function answering(newer: Lowering, older: Lowering): Lowering['elicitAnswer'] {
  const [first, second] = [older.elicitAnswer, newer.elicitAnswer]
  if (first === undefined) return second
  return (answer, asked) => {
    const answered = first(answer, newer.elicit?.(asked) ?? asked)
    return second === undefined ? answered : second(answered, asked)
  }
}
