/** Continues with a value now, or when it arrives, so that synchronous work stays synchronous. */
export function soon<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Calls `otherwise` if `act` fails, now or later. */
export function orElse<Value, Other>(
  act: () => Value | Promise<Value>,
  otherwise: (error: unknown) => Other | Promise<Other>,
): Value | Other | Promise<Value | Other> {
  try {
    const value = act()
    return value instanceof Promise ? value.catch(otherwise) : value
  } catch (error) {
    return otherwise(error)
  }
}
