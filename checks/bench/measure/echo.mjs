// One echo, checked: a client that fails fast, or mixes up its answers, must not look fast.

export async function echo(client, number) {
  const text = `message ${number}`;
  const answer = client.text(await client.call("echo", { text }));
  if (answer !== text) throw new Error(`sent "${text}", received "${answer}"`);
}
