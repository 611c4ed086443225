/** A copy of a value as its reader gets it from JSON. */
export function asSent<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}
