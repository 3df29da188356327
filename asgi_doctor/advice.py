"""The advice that the doctor gives, in the user's terms. Each piece of advice begins with the cure to try first."""

from asgi_doctor.finding import Cure

SLEEP = Cure("`await asyncio.sleep(…)` instead of `time.sleep(…)`", "await asyncio.sleep(1)")
HTTP = Cure(
    "use `httpx.AsyncClient`, created once in the lifespan, and await its calls",
    "async with httpx.AsyncClient() as client:  # in the lifespan\n    yield {'client': client}\n"
    "answer = await request.state.client.get(url)  # in the endpoint",
)
AWS = Cure(
    "use an asynchronous client, aioboto3's, opened once in the lifespan, and await its calls",
    "async with aioboto3.Session().client('sqs') as sqs:  # in the lifespan\n    yield {'sqs': sqs}\n"
    "await request.state.sqs.send_message(QueueUrl=url, MessageBody=text)",
)
DATABASE = Cure(
    "use an asynchronous driver (asyncpg, psycopg's AsyncConnection, redis.asyncio), or call this one in a thread",
    "cursor = await connection.execute(query)  # of an AsyncConnection\nrows = await cursor.fetchall()",
)
SQLITE = Cure(
    "call the database in a thread: `await anyio.to_thread.run_sync(…)`",
    "rows = await anyio.to_thread.run_sync(fetch, query)  # fetch() opens its own connection",
)
SUBPROCESS = Cure(
    "`await asyncio.create_subprocess_exec(…)` instead of the `subprocess` module",
    "process = await asyncio.create_subprocess_exec('convert', name)\nif await process.wait() != 0:\n    raise …",
)
LOCK = Cure(
    "use `asyncio.Lock`, `asyncio.Event` or `asyncio.Queue`, or wait in a thread: `await anyio.to_thread.run_sync(…)`",
    "async with asyncio_lock:\n    …",
)
FUTURE = Cure(
    "`await asyncio.wrap_future(future)` instead of `future.result()`; an asynchronous wait",
    "result = await asyncio.get_running_loop().run_in_executor(pool, work)",
)
FILE = Cure(
    "read and write files in a thread: `await anyio.to_thread.run_sync(…)`, or with `anyio.open_file`",
    "text = await anyio.Path(path).read_text()",
)
SOCKET = Cure(
    "use an asynchronous client or `asyncio.open_connection(…)`, or call this one in a thread",
    "reader, writer = await asyncio.open_connection(*address)",
)
WAIT = Cure(
    "call it in a thread: `await anyio.to_thread.run_sync(…)`, or declare the endpoint with `def`",
    "result = await anyio.to_thread.run_sync(fetch, key)",
)
ENDPOINT = Cure("declare the endpoint with `def`, so that a thread waits", "def endpoint():\n    return fetch()")
COMPUTE = Cure(
    "compute in a process pool",
    "pool = ProcessPoolExecutor()  # in the lifespan\n"
    "result = await asyncio.get_running_loop().run_in_executor(pool, price, orders)",
)
RELEASING = Cure(
    "call it in a thread, in no more threads at once than there are cores; this code releases the interpreter lock",
    "limiter = anyio.CapacityLimiter(4)  # once, for four cores\n"
    "digest = await anyio.to_thread.run_sync(hash_password, password, limiter=limiter)",
)
REQUEST = Cure(
    "do less for each request: smaller bodies, or validate the bytes in one step, without `json.loads`",
    "async def load(request: Request):\n    rows = rows_adapter.validate_json(await request.body())",
)
RESPONSE = Cure(
    "do less for each response: smaller pages, or return a `Response` that is serialised already",
    "async def orders():\n    return Response(adapter.dump_json(orders[:100]), media_type='application/json')",
)
ROWS = Cure(
    "do less: fewer rows, or columns instead of objects",
    "rows = (await session.execute(select(Order.id, Order.total).limit(100))).all()",
)
JSON = Cure(
    "do less: smaller documents, or a faster parser (orjson, msgspec); a process pool only if it returns little",
    "data = orjson.loads(body)",
)
REGULAR_EXPRESSION = Cure(
    "do less: an expression without nested repetition, on shorter texts; otherwise a process pool",
    "re.match(r'a+$', text[:1000])",
)
BUILD = Cure(
    "create it once, in the lifespan, instead of for each request",
    "yield {'client': Client()}  # in the lifespan\nclient = request.state.client  # in the endpoint",
)
ROUTES = Cure("send a request before the service is ready: FastAPI builds a router's routes at the first request")
IMPORT = Cure(
    "import it once, before the first request: at the top of a module that is imported at the start",
    "import pandas\nasync def report():\n    …",
)
TOKENS = Cure(
    "allow more threads, use each for less time, or use none: `async def` and an asynchronous client",
    "anyio.to_thread.current_default_thread_limiter().total_tokens = 100  # in the lifespan",
)
EXECUTOR = Cure(
    "allow more threads in the default executor, use each for less time, or use none: an asynchronous client",
    "loop.set_default_executor(ThreadPoolExecutor(max_workers=100))  # in the lifespan",
)
CONNECTIONS = Cure(
    "keep each connection for less time, or allow more connections: more threads would wait for the same pool",
    "with Session() as session:\n    order = session.get(Order, key)\nnotify(order)",
)
GARBAGE = Cure(
    "make fewer objects that live long, or collect less: `gc.freeze()` after the start, and higher thresholds",
    "gc.freeze()  # at the end of the start: never traverses these objects again\ngc.set_threshold(50_000, 20, 100)",
)
STARTUP_WAITS = Cure(
    "wait before serving without blocking: await it in the lifespan, or in a thread; nothing else starts meanwhile",
    "await asyncio.sleep(5)",
)
STARTUP_COMPUTES = Cure(
    "do this before serving in a thread or process, or prepare it when the image is built",
    "index = await anyio.to_thread.run_sync(build_index)",
)
# Advice for a line that waits. A regular expression matches the line's code, or the path of a file that the line calls.
WAITING_CALLS = (
    (r"/botocore/|/boto3/|/s3transfer/", AWS),
    (r"/subprocess\.py$|\bsubprocess\.|\bos\.(system|waitpid|wait|popen)\(", SUBPROCESS),
    (
        r"/(requests|httpx|httpcore|urllib3)/|/urllib/request\.py$|/http/client\.py$|\b(requests|httpx)\.|urlopen\(",
        HTTP,
    ),
    (r"\bsqlite3\b|/sqlite3/", SQLITE),
    (r"/(psycopg2?|pymysql|MySQLdb|mysql|redis|pymongo|sqlalchemy|peewee|cassandra)/", DATABASE),
    (r"/concurrent/futures/|\.result\(|/asgiref/sync\.py$|run_coroutine_threadsafe", FUTURE),
    (r"/threading\.py$|/queue\.py$|\.acquire\(|\bwith \w*_?lock|\.join\(\)|multiprocessing", LOCK),
    (r"/socket\.py$|/ssl\.py$|\.(recv|recv_into|accept|connect|sendall|readline)\(|getaddrinfo|gethostby", SOCKET),
    (r"\bopen\(|\.(read|write|read_text|read_bytes|write_text|write_bytes)\(|fsync|/pathlib", FILE),
)
