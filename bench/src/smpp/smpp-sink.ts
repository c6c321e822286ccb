import { createServer } from 'node:net';

/**
 * The length of the shortest answer to a submit: command_length, command_id, command_status, sequence_number,
 * message_id.
 */
const ANSWER_LENGTH = 27;
const SUBMIT_SM = 0x04;
const UNBIND = 0x06;

let submits = 0;

/**
 * An SMSC that accepts everything, with one write for each chunk. It runs in a process of its own, sends its port to the
 * parent, and answers each message of the parent with the number of submits so far.
 */
const server = createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const octets = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const answers = Buffer.allocUnsafe((octets.length / 16) * ANSWER_LENGTH + ANSWER_LENGTH);
    let at = 0;
    let end = 0;
    while (octets.length - at >= 16 && octets.length - at >= octets.readUInt32BE(at)) {
      end = answer(octets, at, answers, end);
      at += octets.readUInt32BE(at);
    }
    rest = octets.subarray(at);
    socket.write(answers.subarray(0, end));
  });
});

function answer(request: Buffer, at: number, answers: Buffer, end: number): number {
  const command = request.readUInt32BE(at + 4);
  const length = command === SUBMIT_SM ? ANSWER_LENGTH : command === UNBIND ? 16 : 17;
  answers.writeUInt32BE(length, end);
  answers.writeUInt32BE((command | 0x80000000) >>> 0, end + 4);
  answers.writeUInt32BE(0, end + 8);
  request.copy(answers, end + 12, at + 12, at + 16);
  if (command === SUBMIT_SM) {
    submits++;
    answers.write('0123456789\0', end + 16, 'latin1');
  } else if (command !== UNBIND) answers[end + 16] = 0;
  return end + length;
}

const [, , port, host] = process.argv;
server.listen(Number(port), host, () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.on('message', () => process.send?.(submits));
process.on('disconnect', () => process.exit(0));
