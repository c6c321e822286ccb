/** Uses the sandbox's phones through the routes of the sandbox. */
export class SandboxPhonesClient {
  /** @param url of the application that has the sandbox */
  constructor(private readonly url: string) {}

  /**
   * Returns the digits of the code that a phone received after `since`, in milliseconds since the epoch. Returns undefined until
   * the code has arrived `sends` times.
   */
  async code(number: string, since: number, sends: number): Promise<string | undefined> {
    const response = await fetch(`${this.url}/sandbox/phones/${number}/messages`);
    const messages = (await response.json()) as readonly { readonly text: string; readonly receivedAt: string }[];
    const codes = messages
      .filter(({ receivedAt }) => Date.parse(receivedAt) >= since)
      .flatMap(({ text }) => /(?<!\d)\d{4,8}(?!\d)/.exec(text)?.[0] ?? []);
    return codes[sends - 1];
  }

  /** Sends a text from a phone to a signature, or to a linked number of a messaging app. */
  write(number: string, to: string, text: string, channel = 'sms'): Promise<void> {
    return this.post(`${number}/messages`, { to, text, channel });
  }

  /** Links the number with a QR code. */
  scan(number: string, qr: string): Promise<void> {
    return this.post(`${number}/scan`, { qr });
  }

  private async post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/sandbox/phones/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`The sandbox answers ${response.status} to ${path.replace(/^\d+/, '…')}.`);
  }
}
