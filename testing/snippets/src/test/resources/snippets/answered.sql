create table answered (
    request_id varchar(40) primary key,
    digest varchar(64) not null,
    answer varchar(200) not null
);
