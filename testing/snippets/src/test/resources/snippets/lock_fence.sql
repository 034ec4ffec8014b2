create table lock_fence (
  name varchar(255) not null primary key,
  token bigint not null
);
