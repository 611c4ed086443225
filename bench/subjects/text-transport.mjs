/** A transport of the official SDKs that takes and gives text, with no checks of its own: the cheapest one possible. */
export class TextTransport {
  constructor(receive) {
    this.receive = receive
  }
  async start() {}
  async send(message) {
    this.receive(JSON.stringify(message))
  }
  async close() {}
  give(text) {
    this.onmessage(JSON.parse(text))
  }
}
