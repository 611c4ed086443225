/** Continues with a value now, or when it arrives, so that synchronous work stays synchronous. */
export function soon<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}
