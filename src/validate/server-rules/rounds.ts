import { isObject, member, type Message } from '../message.ts'
import { E_ONLY, failed, passed, TRANSPORTS, unchecked, unless, type Rule } from '../rule.ts'
import type { ServerSubject } from '../server-subject.ts'
import { answersTo, type SurveyedCall } from '../survey.ts'
import { requestTool } from '../tool-call.ts'
import { sentRequests } from './exchanges.ts'
import { allMessages } from './json-rpc.ts'

/** The methods that may ask the client for input. */
const MAY_ASK = ['tools/call', 'prompts/get', 'resources/read']
/** The capability that a question needs. */
const NEEDS: Readonly<{ [method: string]: string }> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}

/** Rules about results that ask the client for input, at 2026-07-28. */
export const ROUND_RULES: readonly Rule<ServerSubject>[] = [
  {
    id: 'R220',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Only tools/call, prompts/get and resources/read ask for input.',
    how: 'Looks at every result of the type input_required.',
    fix: 'Answer other methods with a complete result.',
    isLast: true,
    async check(subject) {
      await subject.survey()
      const asked = allMessages(subject).filter(
        ({ message }) => member(message, 'result', 'resultType') === 'input_required',
      )
      if (asked.length === 0) return unchecked('nothing asked for input')
      const requestOf = sentRequests()
      const wrong = asked
        .map(({ wire, message }) => requestOf(wire, message['id']))
        .find((request) => request !== undefined && !MAY_ASK.includes(String(request['method'])))
      return unless(wrong && `${String(wrong['method'])} asks for input`)
    },
  },
  {
    id: 'R221',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A result that asks for input has inputRequests or requestState.',
    how: 'Looks at every result of the type input_required.',
    fix: 'Say what is asked in inputRequests, or give a requestState to come back with.',
    calls: true,
    async check(subject) {
      const asked = (await askingCalls(subject)).flatMap((call) => call.asked)
      if (asked.length === 0) return unchecked('no tool asked a question')
      const wrong = asked.some(
        ({ result }) => questionsOf(result).length === 0 && typeof result?.['requestState'] !== 'string',
      )
      return unless(wrong ? 'a result asks for input, and says neither what nor how to go on' : undefined)
    },
  },
  {
    id: 'R222',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Questions are only of kinds that the client declared on that request.',
    how: 'Calls the tools that asked, with all other capabilities but the one that they need.',
    fix: 'Answer with -32021 if the client cannot answer the question.',
    calls: true,
    async check(subject) {
      const asking = await askingCalls(subject)
      if (asking.length === 0) return unchecked('no tool asked a question')
      for (const { tool, input, asked } of asking) {
        const methods = asked.flatMap(({ result }) => questionsOf(result).map(({ method }) => String(method)))
        const unknown = methods.find((method) => !Object.hasOwn(NEEDS, method))
        if (unknown !== undefined) return failed(`a question has the method ${unknown}`)
        const needed = new Set(methods.map((method) => NEEDS[method] ?? ''))
        const capabilities = Object.fromEntries(
          ['elicitation', 'sampling', 'roots'].filter((one) => !needed.has(one)).map((one) => [one, {}]),
        )
        const { result } = await requestTool(await subject.shared(), [tool, input], { capabilities })
        const wrong = questionsOf(result).find(({ method }) => needed.has(NEEDS[String(method)] ?? ''))
        if (wrong !== undefined)
          return failed(
            `${String(tool['name'])} asks ${String(wrong['method'])}, which the client did not declare`,
          )
      }
      return passed
    },
  },
  {
    id: 'R226',
    level: 'must',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'A requestState that was changed is rejected.',
    how: 'Answers a question with a changed requestState.',
    fix: 'Sign the state; if the signature is wrong, answer with an error, a result with isError, or the question again.',
    calls: true,
    async check(subject) {
      const call = (await askingCalls(subject)).find(
        ({ asked }) => typeof asked[0]?.result?.['requestState'] === 'string',
      )
      if (call === undefined) return unchecked('no question had a requestState')
      // Another connection may lead to another process, which does not know the state.
      const session = await subject.shared()
      const first = await requestTool(session, [call.tool, call.input])
      const state = first.result?.['requestState']
      if (typeof state !== 'string') return unchecked('the question did not come again')
      const middle = Math.floor(state.length / 2)
      const changed = `${state.slice(0, middle)}${state[middle] === 'A' ? 'B' : 'A'}${state.slice(middle + 1)}`
      const more = { ...answersTo(first), requestState: changed }
      const reply = await requestTool(session, [call.tool, call.input, more])
      const { message, result, problem } = reply
      if (message === undefined) return unchecked(problem ?? 'there is no response')
      // A protocol error, a result with isError and another question reject it alike.
      const isAccepted =
        result !== undefined && result['resultType'] !== 'input_required' && result['isError'] !== true
      return unless(isAccepted ? 'a changed requestState is accepted' : undefined)
    },
  },
  {
    id: 'R227',
    level: 'should',
    revisions: E_ONLY,
    transports: TRANSPORTS,
    rule: 'Missing answers are asked for again, and unknown ones are ignored.',
    how: 'Comes back without answers, and then with one too many.',
    fix: 'Return the question again if its answer is missing, and look only at the keys that you asked for.',
    calls: true,
    async check(subject) {
      const [call] = await askingCalls(subject)
      if (call === undefined) return unchecked('no tool asked a question')
      const session = await subject.shared()
      const { tool, input } = call
      const first = await requestTool(session, [tool, input])
      if (first.result?.['resultType'] !== 'input_required')
        return unchecked('the question did not come again')
      const state = first.result?.['requestState']
      const none = { inputResponses: {}, ...(state !== undefined && { requestState: state }) }
      const again = await requestTool(session, [tool, input, none])
      if (again.result?.['resultType'] !== 'input_required')
        return failed('missing answers are not asked for again')
      const answers = answersTo(again)
      const more = {
        ...answers,
        inputResponses: {
          ...(answers['inputResponses'] as Message),
          'validator-unknown': { action: 'accept' },
        },
      }
      const { result } = await requestTool(session, [tool, input, more])
      return unless(result === undefined ? 'an answer that nobody asked for is not ignored' : undefined)
    },
  },
]

function questionsOf(result: Message | undefined): readonly Message[] {
  const asked = result?.['inputRequests']
  return isObject(asked) ? Object.values(asked).filter(isObject) : []
}

async function askingCalls(subject: ServerSubject): Promise<readonly SurveyedCall[]> {
  const { calls } = await subject.survey()
  return calls.filter(({ asked }) => asked.length > 0)
}
