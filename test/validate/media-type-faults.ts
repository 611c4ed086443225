import type { Fault, FaultReply, FaultRequest } from './fault.ts'

/** Refuses requests by one of their headers. */
function refusing(
  name: string,
  isWrong: (value: string) => boolean,
  status: number,
): NonNullable<Fault['http']> {
  return ({ headers, method }: FaultRequest, next): Promise<FaultReply> | FaultReply => {
    const value = headers[name]
    return method === 'POST' && value !== undefined && isWrong(value)
      ? { status, headers: {}, body: null }
      : next()
  }
}

/** Servers that compare headers as texts. */
export const MEDIA_TYPE_FAULTS: readonly Fault[] = [
  {
    rule: 'V075',
    does: 'accepts no charset',
    http: refusing('content-type', (value) => value !== 'application/json', 415),
  },
  {
    rule: 'V075',
    does: 'accepts types in small letters only',
    http: refusing('content-type', (value) => !value.startsWith('application/json'), 415),
  },
  {
    rule: 'V075',
    does: 'fails at a quoted charset',
    http: refusing('content-type', (value) => value.includes('"'), 400),
  },
  {
    rule: 'V074',
    does: 'wants the types of Accept in one order',
    http: refusing('accept', (value) => !/json.*event-stream/i.test(value), 406),
  },
  {
    rule: 'V074',
    does: 'knows no q values',
    http: refusing('accept', (value) => value.includes('q='), 406),
  },
  {
    rule: 'V074',
    does: 'wants a space between the types of Accept',
    http: refusing('accept', (value) => !value.includes(', '), 406),
  },
]

/** Servers that are right in another way. */
export const MEDIA_TYPE_VARIANTS: readonly Fault[] = [
  {
    rule: 'V074',
    does: 'answers everything else than a list of types with 406',
    http: refusing('accept', (value) => !value.includes('/'), 406),
  },
]
