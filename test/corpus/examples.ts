/** Named examples of the params and results of every request of a revision. */
export type RequestExamples<Requests> = {
  readonly [Method in keyof Requests]: Requests[Method] extends { params: infer Params; result: infer Result }
    ? { readonly params: Named<Params>; readonly result: Named<Result> }
    : never
}

/** Named examples of the params of every notification of a revision. */
export type NotificationExamples<Notifications> = {
  readonly [Method in keyof Notifications]: Named<Notifications[Method]>
}

type Named<Value> = Readonly<Record<string, Value>>
