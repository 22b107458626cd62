import { createHash } from "node:crypto";
import { createServer } from "node:http";

/** A server that answers paths by bytes and entity tags, and what it has no bytes for by 404; lists the requests. */
export async function service(t) {
  const answers = new Map();
  const asked = [];
  const unchanged = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const answer = answers.get(request.url);
    if (answer === undefined) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error":"there is nothing here"}');
      return;
    }
    const etag = `"${createHash("sha1").update(answer).digest("hex")}"`;
    response.setHeader("etag", etag);
    if (request.headers["if-none-match"] === etag) {
      unchanged.push(request.url);
      response.statusCode = 304;
      response.end();
    } else {
      response.end(answer);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections?.();
    return new Promise((resolve) => server.close(resolve));
  };
  t.after(close);
  return { url: `http://127.0.0.1:${server.address().port}/`, answers, asked, unchanged, close };
}
